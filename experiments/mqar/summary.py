"""Summary of multi-query associative recall: mean accuracies with 95 % intervals over seeds."""

from scipy import stats

from experiments.contract import Table
from experiments.statistics.clusters import standard_error
from experiments.statistics.columns import headline

KEYS = ["mixer", "width", "length", "pairs", "state_bytes"]


def summarise(table: Table) -> dict:
    """Mean accuracies in test, half of their 95 % intervals (Student's, over seeds), and how many seeds are solved."""
    results, scalars = [], {}
    for kind, rows in table.groupby(KEYS, sort=False):
        values = rows["accuracy"].to_numpy(float)
        count, error = len(values), standard_error(values)
        half = float(stats.t.ppf(0.975, count - 1) * error)
        entry = dict(zip(KEYS, kind, strict=True)) | {"accuracy": float(values.mean()), "half_interval": half}
        entry |= {"seeds": count, "solved": int((values >= 0.99).sum()), "epochs": float(rows["epochs"].mean())}
        results.append(entry | {"contradicted": float(rows["contradicted"].mean())})
        name = f"accuracy/{entry['mixer']}/d={entry['width']}/L={entry['length']}/K={entry['pairs']}"
        scalars |= headline(name, entry["accuracy"], error)
    scalars["contradicted"] = float(table["contradicted"].mean())
    return {"results": results, "scalars": scalars}
