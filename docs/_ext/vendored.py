"""Scripts of others, copied beside the pages so that the site reads without a network: MathJax from npm, plotly.js."""

import shutil
import subprocess
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ConfigError

from experiments.figures import report
from experiments.system import files

KEPT = (
    "startup.js",
    "core.js",
    "input/tex.js",
    "input/tex/extensions",
    "output/chtml.js",
    "output/chtml/fonts/tex.js",
    "output/chtml/fonts/woff-v2",
)
"""MathJax files for the pages' TeX: two thirds of the bytes of its usual bundle."""


def vendor(app: Sphinx) -> None:
    """Copies of `KEPT` in `_static/mathjax`, where one is missing. ConfigError if npm is missing or fails."""
    source, target = Path(app.srcdir), Path(app.srcdir) / "_static" / "mathjax"
    if all((target / part).exists() for part in KEPT):
        return
    package = source / "node_modules" / "mathjax" / "es5"
    if not package.exists():
        try:
            subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent"], cwd=source, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise ConfigError(f"npm must install docs/package.json for the site's formulas, got: {error}") from None
    for part in KEPT:
        (target / part).parent.mkdir(parents=True, exist_ok=True)
        if (package / part).is_dir():
            shutil.copytree(package / part, target / part, dirs_exist_ok=True)
        else:
            shutil.copy2(package / part, target / part)


def plotting(app: Sphinx) -> None:
    """plotly.js as reports pack it, for the explorer."""
    target = Path(app.srcdir) / "_static" / "explorer" / "plotly.js"
    files.write_text(target, f'const PLOTLY = "{report.bundle()}";\n')


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx extension."""
    app.connect("builder-inited", vendor)
    app.connect("builder-inited", plotting)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
