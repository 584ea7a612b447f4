"""Pages written from what the project says of itself: gallery, reference and benchmarks.

Gallery: one page for each `conf/*.yaml`, its opening comment being the text. Reference: one page for each public module
of `hopfield`, every name of its `__all__`. Benchmarks: the table of `docs/benchmarks.json`. Reports: those kept in
`docs/reports/`, with the plotting library put back.
"""

import importlib
import json
import pkgutil
import re
import statistics
from pathlib import Path
from types import ModuleType

from sphinx.application import Sphinx

from experiments.runner.catalogue import GROUPS
from scripts import showcase

BENCHMARKS = """# Benchmarks

Ratios from one run of `python scripts/benchmark.py --long`, both sides in turn in one process: how many times as long
the other takes (median, range). Below 1 the other is faster.

{environment[processor]}, {environment[cores]} cores, {environment[device]}; {versions}.

| what | against | ratio |
|---|---|---|
{rows}

```{{image}} figures/benchmark.svg
:alt: Ratios
:width: 100%
```

{prices}GPU figures are not measured.
"""
PRICES = """## Prices of a layer's options

A layer with an option over the layer without it, forwards and backwards, {shapes}: how many times as long it takes, the
median of {repetitions} passes of each in turn (`python scripts/benchmark.py --only prices`).

| option | price |
|---|---|
{rows}

"""
REPORT = """
:::{{dropdown}} The report of this run: hover for values, hide series, sort the table
```{{raw}} html
<p><a href="../_static/reports/{name}.html">Alone in a window</a></p>
<iframe class="report" src="../_static/reports/{name}.html" title="Report of {name}" loading="lazy"></iframe>
```
:::
"""
DOORS = ("capacity", "measure", "open_run", "sweep")
"""Names of the library that lead to the experiments, imported when they are asked for."""
FIGURE = re.compile(r"^!\[(.*?)\]\(figures/(\w+)\.svg\)$", re.MULTILINE)


def public_modules() -> list[ModuleType]:
    """Every module of the library whose path has no underscore, packages and their modules that are not re-exported."""
    import hopfield

    names = ["hopfield", *(found.name for found in pkgutil.walk_packages(hopfield.__path__, "hopfield."))]
    modules = [importlib.import_module(name) for name in names if not any(p.startswith("_") for p in name.split("."))]
    packages = [module for module in modules if hasattr(module, "__path__") or module.__name__.count(".") == 1]
    told = {id(getattr(p, name)) for p in packages for name in public_names(p)}
    rest = [m for m in modules if m not in packages and not _told(m, told)]
    return sorted([*packages, *rest], key=lambda module: module.__name__)


def _told(module: ModuleType, told: set[int]) -> bool:
    """True if every public name of a module stands in the page of a package."""
    return all(id(getattr(module, name)) in told for name in public_names(module))


def public_names(module: ModuleType) -> list[str]:
    """`__all__`, with the doors of the library itself, or what the module itself defines without an underscore."""
    own = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and callable(value) and getattr(value, "__module__", None) == module.__name__
    ]
    doors = DOORS if module.__name__ == "hopfield" else ()
    return [*getattr(module, "__all__", own), *doors]


def documented(module: ModuleType) -> list[str]:
    """Names of a module that have a page entry: functions and classes of the library."""
    values = {name: getattr(module, name) for name in public_names(module)}
    return [name for name, value in values.items() if callable(value) and hasattr(value, "__module__")]


def reference(folder: Path) -> int:
    """Pages of the reference; their number of names, each in its deepest module, other pages pointing there."""
    home: dict[int, str] = {}
    pages = {}
    for module in sorted(public_modules(), key=lambda module: (-module.__name__.count("."), module.__name__)):
        name, names = module.__name__, documented(module)
        own = [entry for entry in names if id(getattr(module, entry)) not in home]
        home |= {id(getattr(module, entry)): name for entry in own}
        again = [f"- ``{entry}``: :doc:`{home[id(getattr(module, entry))]}`" for entry in names if entry not in own]
        if own or again or module.__doc__:
            pages[name] = _page(module, own, again)
    for name, text in pages.items():
        write(folder / f"{name}.rst", text)
    listing, told = "\n".join(sorted(pages)), {module.__name__: module for module in public_modules()}
    sentences = (f"- {{doc}}`{name}`: {_first(told[name])}" for name in sorted(pages))
    write(
        folder / "index.md",
        f"# Reference\n\n{len(home)} public functions and classes in {len(pages)} modules, from their docstrings.\n\n"
        + "\n".join(sentences)
        + f"\n\n```{{toctree}}\n:hidden:\n\n{listing}\n```\n",
    )
    return len(home)


def _first(module: ModuleType) -> str:
    """First line of a module's docstring."""
    return (module.__doc__ or "").strip().partition("\n")[0]


def _page(module: ModuleType, own: list[str], again: list[str]) -> str:
    """One module in reStructuredText: its docstring, its names, and where the names are that it only passes on."""
    name = module.__name__
    text = [name, "=" * len(name), "", f".. automodule:: {name}", ""]
    for entry in own:
        kind = "class" if isinstance(getattr(module, entry), type) else "function"
        text += [f".. auto{kind}:: {name}.{entry}", *(["   :members:"] if kind == "class" else []), ""]
    return "\n".join([*text, *(["Also here:", "", *again, ""] if again else [])])


def gallery(root: Path, folder: Path) -> None:
    """Pages of the experiments: the opening comment of each configuration, its command and its figure."""
    cards: dict[str, list[str]] = {group: [] for group in GROUPS}
    names = []
    for path in sorted((root / "conf").glob("*.yaml")):
        title, body = header(path.read_text(encoding="utf-8"))
        name = path.stem
        names.append(name)
        figure = root / "docs" / "figures" / f"{name}.svg"
        shown = f"```{{image}} ../figures/{name}.svg\n:alt: {title}\n:width: 100%\n```\n\n" if figure.exists() else ""
        command = f"```bash\nhopfield conf={name}\n```\n\n"
        report = REPORT.format(name=name) if (root / "docs" / "reports" / f"{name}.html").exists() else ""
        write(folder / f"{name}.md", f"# {name}\n\n{title}\n\n{command}{shown}{body}\n{report}")
        group = re.search(r"^# @group (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        cards[group[1] if group else ""].append(
            f"```{{grid-item-card}} {title.rstrip('.')}\n:link: {name}\n:link-type: doc\n"
            + (f":img-top: ../figures/cards/{name}.webp\n:img-alt: {title}\n" if figure.exists() else "")
            + f"`conf={name}`\n```\n"
        )
    listing = "\n".join(names)
    write(
        folder / "index.md",
        "# Gallery\n\nEvery experiment: what it shows, its command, its figure, what it measured and its time.\n"
        "The text of each page is the head of its file in `conf/`.\n\n"
        + "".join(
            f"## {GROUPS[group]}\n\n````{{grid}} 1 2 2 3\n:gutter: 3\n\n" + "\n".join(members) + "````\n\n"
            for group, members in cards.items()
            if members
        )
        + f"```{{toctree}}\n:hidden:\n\n{listing}\n```\n",
    )


def header(text: str) -> tuple[str, str]:
    """Title and body of the comment that opens a configuration; indented lines are tables."""
    said = [line for line in text.splitlines() if line.startswith("#") and not line.startswith("# @")]
    lines = [line[2:] if line.startswith("# ") else line[1:] for line in said]
    title, out, table = lines[0], [], False
    for line in lines[1:]:
        inside = line.startswith("   ") or (table and not line.strip())
        if inside != table:
            out += ["```" if table else "\n```text"]
            table = inside
        out.append(line)
    return title, "\n".join([*out, *(["```"] if table else [])]).replace("```text\n\n", "```text\n")


def reports(kept: Path, folder: Path) -> None:
    """Reports as a browser opens them."""
    for path in sorted(kept.glob("*.html")):
        write(folder / path.name, showcase.with_plotting_library(path.read_text(encoding="utf-8")))


def results(app: Sphinx, page: str, source: list[str]) -> None:
    """The results with small pictures, each a link to its page in the gallery: at full size they are too heavy."""
    if page == "results":
        source[0] = FIGURE.sub(_linked, source[0])


def _linked(found: re.Match) -> str:
    """A figure's small picture with a link, where there is one; `benchmark` has a page of its own."""
    title, name = found.groups()
    page = "benchmarks.md" if name == "benchmark" else f"gallery/{name}.md"
    small = showcase.FIGURES / "small" / f"{name}.webp"
    return f"[![{title}](figures/small/{name}.webp)]({page})" if small.exists() else found[0]


def benchmarks(source: Path, target: Path) -> None:
    """The page of measured ratios."""
    found = json.loads(source.read_text(encoding="utf-8"))
    rows, prices = [], ""
    for case in found["cases"]:
        if case["name"] == "prices":
            prices = _prices(case)
            continue
        theirs, ours = case["seconds"]["theirs"]["total"], case["seconds"]["ours"]["total"]
        ratios = [their / our for their, our in zip(theirs, ours, strict=True)]
        shapes = ", ".join(f"{name} {size:,}" for name, size in case["shapes"].items())
        told = f"{case['what']} {shapes[:1].upper()}{shapes[1:]}{'.' if shapes else ''}"
        middle = statistics.median(ratios)
        rows.append(f"| {told} | {case['labels']['theirs']} | {middle:.2g} ({min(ratios):.2g} to {max(ratios):.2g}) |")
    environment = found["environment"]
    versions = ", ".join(f"{name} {value}" for name, value in environment["versions"].items())
    write(target, BENCHMARKS.format(environment=environment, versions=versions, rows="\n".join(rows), prices=prices))


def _prices(case: dict) -> str:
    """The table of what each option of a layer costs."""
    shapes = ", ".join(f"{name} {size:,}" for name, size in case["shapes"].items())
    rows = (f"| {name.removeprefix('price of ')} | {price:.2g} |" for name, price in case["agreement"].items())
    return PRICES.format(shapes=shapes, repetitions=case["repetitions"], rows="\n".join(rows))


def write(path: Path, text: str) -> None:
    """Write a text, unless the file has the same (Sphinx reads changed files again)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def generate(app: Sphinx) -> None:
    """All pages that are written from elsewhere."""
    source = Path(app.srcdir)
    reference(source / "reference")
    gallery(source.parent, source / "gallery")
    benchmarks(source / "benchmarks.json", source / "benchmarks.md")
    reports(source / "reports", source / "_static" / "reports")


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx extension."""
    app.connect("builder-inited", generate, priority=400)
    app.connect("source-read", results)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
