"""Bad command lines: options of all experiments with values of the wrong kind, sign or size."""

import itertools
import random
import re
from collections.abc import Sequence
from typing import Any, get_args, get_origin

from experiments import contract
from experiments.runner import errors, registry
from tests.experiments.damaged_files import Line

DEEP = "[" * 60 + "]" * 60
ANY = ("abc", "''", "null", "true", "[1]", "{a:1}", "../../x", "/etc/passwd", DEEP, "${nope}", "1e18", "nan")
NUMBERS = ("-1", "0", "1.5", "inf", "-inf", "1e300", "1e-320", "1000000000000000000", "2147483648", "1000000000")
NUMBERS += ("9" * 5000, "-0.0", "1e9", "0x10", "1_000")
TEXTS = (
    "'a b'",
    "x" * 5000,
    "'\u202e'",
    "a:b:c",
    "dense:1e18",
    "dense:-1",
    "sparse:nan",
    "linear:1000000000",
    "~",
    "mapped:",
)
TEXTS += ("noise:nan", "flip:2", "mapped:/dev/zero", "/dev/stdin")


def values(hint: Any) -> Sequence[str]:
    """Words that do not suit an option of this type, or hardly."""
    parts = [part for part in get_args(hint) if part is not type(None)] if get_origin(hint) is not list else []
    if get_origin(hint) not in (list, dict) and parts:
        return values(parts[0])
    if get_origin(hint) is list:
        inner = [value for value in values(get_args(hint)[0]) if value not in ("null", "")]
        return ("[]", "x", "1", "[[1]]", "[null]", "[1,1]", *(f"[{value}]" for value in inner))
    if hint in (int, float):
        return (*ANY, *NUMBERS)
    if hint is str or hint is Any:
        return (*ANY, *NUMBERS, *TEXTS)
    return (*ANY, "2", "perhaps", "-1", "{x:{y:1}}")


def configuration_of(experiment: str) -> str:
    """A configuration of an experiment: of its name, or the first that takes its options."""
    if (contract.ROOT / "conf" / f"{experiment}.yaml").exists():
        return experiment
    found = (
        path
        for path in sorted((contract.ROOT / "conf").glob("*.yaml"))
        if f"/schema/{experiment}\n" in path.read_text()
    )
    return next(found).stem


def lines(count: int, seed: int) -> list[Line]:
    """Lines over the options of all experiments, each experiment as often as any other."""
    rng = random.Random(seed)
    everything: dict[str, list[Line]] = {}
    for experiment in registry.names():
        conf, schema = configuration_of(experiment), registry.load(experiment).Config
        kept = [leaf for leaf in errors.leaves(schema) if leaf[0] not in ("dry", "wandb.mode", "output")]
        for key, hint, _ in kept:
            for value in values(hint):
                words = (f"conf={conf}", f"{'+' if get_origin(hint) is dict else ''}{key}={value}")
                everything.setdefault(conf, []).append(Line("experiments.run", words, (key, value)))
        names = [key for key, _, _ in kept]
        for key in (
            f"{rng.choice(names)}x",
            f"{rng.choice(names)}.a.b",
            "+a.b.c.d",
            "~seed",
            "=",
            "conf",
            "-x",
            "--",
            "@",
        ):
            everything[conf].append(Line("experiments.run", (f"conf={conf}", f"{key}=1"), (key.strip("+~-="), "key")))
    for found in everything.values():
        rng.shuffle(found)
    turns = itertools.chain.from_iterable(itertools.zip_longest(*everything.values()))
    return list(itertools.islice(filter(None, turns), count))


def fault_of(line: Line, code: int, out: str, err: str, left: Sequence[str]) -> str:
    """Fault in the end of a line's process, as text. Empty without one."""
    if left:
        return f"left {', '.join(left)} behind"
    if code == 0:
        return "" if " points" in out and not err.count("Traceback") else "is accepted without a word"
    if code != 2 or out:
        return f"ends in exit code {code}"
    if not re.fullmatch(r"error: [^\n]+\n", err):
        return "is not refused in one sentence"
    known = [part for name in line.names for part in (name, *re.split(r"[.\[\]=']", name)) if len(part) > 1]
    known += [f"{name[:-3]}y" for name in known if name.endswith("ies")] + ["conf=", "degree", "corruption", "path"]
    return "" if any(name.rstrip("s") in err for name in known) else "is refused without a name"
