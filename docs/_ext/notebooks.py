"""Notebooks of the executed pages: each is written as .ipynb beside its page, with a link to it and, online, to Colab.

Colab opens what the repository holds at its address there, so that its badge needs the variable GITHUB_REPOSITORY
(`owner/name`, as GitHub's own workflows have it) and the branch `notebooks`, where the built ones are published.
"""

import os
from pathlib import Path

import nbformat
from myst_nb.core.read import is_myst_markdown_notebook, read_myst_markdown_notebook
from sphinx.application import Sphinx

FOLDER = "_static/notebooks"
REPOSITORY = os.environ.get("GITHUB_REPOSITORY")
BADGE = "https://colab.research.google.com/assets/colab-badge.svg"


def notebook(text: str) -> nbformat.NotebookNode:
    """Notebook of an executed page, not run. On Colab its first cell installs the library from the repository."""
    made = read_myst_markdown_notebook(text)
    if REPOSITORY:
        made.cells.insert(0, nbformat.v4.new_code_cell(f"%pip install -q git+https://github.com/{REPOSITORY}"))
    for number, cell in enumerate(made.cells):
        cell.id = f"cell-{number}"
    return made


def write(app: Sphinx) -> None:
    """The notebook of every executed page."""
    for page in sorted(Path(app.srcdir).rglob("*.md")):
        name = page.relative_to(app.srcdir).with_suffix("")
        text = page.read_text(encoding="utf-8")
        if name.parts[0] != "_build" and is_myst_markdown_notebook(text):
            target = Path(app.srcdir, FOLDER, name).with_suffix(".ipynb")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(nbformat.writes(notebook(text)) + "\n", encoding="utf-8")


def links(app: Sphinx, page: str, source: list[str]) -> None:
    """Links of a page to its notebook, below its title."""
    if not is_myst_markdown_notebook(source[0]):
        return
    place = f"{'../' * page.count('/')}{FOLDER}/{page}.ipynb"
    told = f'<a href="{place}" download>Download this page as a notebook</a>'
    if REPOSITORY:
        address = f"https://colab.research.google.com/github/{REPOSITORY}/blob/notebooks/{page}.ipynb"
        told += f' <a href="{address}"><img class="badge" alt="Open in Colab" src="{BADGE}"></a>'
    head, title, rest = source[0].partition("\n# ")
    name, end, rest = rest.partition("\n")
    source[0] = f'{head}{title}{name}{end}\n```{{raw}} html\n<p class="notebook">{told}</p>\n```\n{rest}'


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx extension."""
    app.connect("builder-inited", write, priority=450)
    app.connect("source-read", links, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
