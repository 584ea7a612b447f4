"""Configuration of the documentation site: `make docs` builds it, every page with code is executed."""

import importlib.metadata
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT), str(HERE / "_ext")]
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])

project = "Hopfield"
author = "the Hopfield authors"
copyright = "the Hopfield authors, Apache-2.0"
release = version = importlib.metadata.version("hopfield")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinxcontrib.bibtex",
    "docstrings",
    "notebooks",
    "pages",
    "vendored",
]
exclude_patterns = ["_build", "node_modules", "figures", "reports", "_ext", "_templates"]
suppress_warnings = ["mystnb.unknown_mime_type", "misc.highlighting_failure"]
nitpicky = False
bibtex_bibfiles = ["references.bib"]
linkcheck_ignore = [r"http://127\.0\.0\.1"]

myst_enable_extensions = ["amsmath", "dollarmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_timeout = 240
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_output_stderr = "remove-warn"
nb_render_image_options = {"width": "100%"}

autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "Hopfield"
html_static_path = ["_static"]
templates_path = ["_templates"]
html_css_files = ["site.css"]
html_js_files = [("enlarge.js", {"defer": "defer"})]
html_favicon = "_static/favicon.svg"
DESCRIPTION = "Associative memory in JAX: energies, attention layers and measured capacities from one definition."
myst_html_meta = {
    "description": DESCRIPTION,
    "property=og:title": "Hopfield",
    "property=og:description": DESCRIPTION,
    "property=og:type": "website",
}
REPOSITORY = os.environ.get("GITHUB_REPOSITORY")
html_show_sourcelink = False
ALONE = ["start", "layers", "theory", "explorer", "results", "papers", "notation", "benchmarks", "gpu", "limits"]
ALONE += ["positions", "decoding", "stable", "sources", "gallery/index"]
html_sidebars = {page: [] for page in ALONE}  # no pages beside them to list
html_copy_source = False
html_domain_indices = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    **({"github_url": f"https://github.com/{REPOSITORY}"} if REPOSITORY else {}),
    "show_toc_level": 2,
    "navigation_depth": 2,
    "show_nav_level": 1,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
mathjax_path = "mathjax/startup.js"
mathjax3_config = {"loader": {"load": ["core", "input/tex", "output/chtml"]}, "chtml": {"scale": 0.95}}
