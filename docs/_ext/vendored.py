"""MathJax and its fonts, copied from the npm package beside the pages, so that the site reads without a network."""

import shutil
import subprocess
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ConfigError

KEPT = ("tex-mml-chtml.js", "output/chtml/fonts/woff-v2", "input/tex/extensions")


def vendor(app: Sphinx) -> None:
    """Copies of `KEPT` in `_static/mathjax`, made once. Raises ConfigError where npm is missing or fails."""
    source, target = Path(app.srcdir), Path(app.srcdir) / "_static" / "mathjax"
    if (target / KEPT[0]).exists():
        return
    package = source / "node_modules" / "mathjax" / "es5"
    if not package.exists():
        try:
            subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent"], cwd=source, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise ConfigError(f"npm must install docs/package.json for the site's formulas, got: {error}") from None
    for part in KEPT:
        copy = shutil.copytree if (package / part).is_dir() else shutil.copy2
        (target / part).parent.mkdir(parents=True, exist_ok=True)
        copy(package / part, target / part)


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx extension."""
    app.connect("builder-inited", vendor)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
