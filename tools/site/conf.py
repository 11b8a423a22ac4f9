"""The settings of Sphinx for the documentation site, which `make site` builds."""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT))

from tools.site.pages import linked_code  # noqa: E402 - the path is set first

project = "pegboard"
author = "the pegboard authors"
version = release = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
html_title = "pegboard"
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["versions.js", "site.js"]
html_logo = "static/logo.svg"
html_favicon = "static/logo.svg"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5d57", "color-brand-content": "#0b5d57"},
    "dark_css_variables": {"color-brand-primary": "#6ad7c8", "color-brand-content": "#6ad7c8"},
}
smartquotes = False
html_extra_path = ["root"]
html_copy_source = False
html_search_scorer = str(ROOT / "tools" / "site" / "scorer.js")
html_show_search_summary = False  # site.js shows the first paragraph of each page
html_show_copyright = False
html_show_sphinx = False

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_markdown_builder",
    "tools.site.markdown_copies",
    "tools.site.pages",
    "tools.site.reference",
]
intersphinx_mapping = {"python": ("https://docs.python.org/3", "tools/site/python.inv")}
add_module_names = False
autodoc_member_order = "bysource"
default_role = "code"
toc_object_entries_show_parents = "hide"
root_doc = "docs/README"
source_suffix = {".md": "markdown", ".py": "code"}
PAGES = (
    "*.md",
    "docs/*.md",
    "docs/examples/*.md",
    "docs/reference/*.md",
    "benchmarks/*.md",
    "tests/requirements/*.md",
    "toolkits/*/README.md",
    "toolkits/*/tests/*/README.md",
)
include_patterns = [*PAGES, *linked_code(ROOT, PAGES)]

myst_heading_anchors = 4
nitpicky = True
suppress_warnings = ["toc.not_included"]  # a test names the pages that docs/README.md must list
