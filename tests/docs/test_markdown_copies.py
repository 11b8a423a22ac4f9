"""Links and images of the Markdown copies of pages lead somewhere."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.support.environments import run
from tools.install import ROOT

CONF = f"""import sys
sys.path.insert(0, {str(ROOT)!r})
extensions = ["sphinx.ext.autodoc", "myst_parser", "sphinx_markdown_builder"]
extensions += ["tools.site.markdown_copies", "tools.site.reference"]
root_doc = "docs/page"
myst_heading_anchors = 4
suppress_warnings = ["toc.not_included"]
"""
PAGE = """# Page

See [the tables](#pluginsa_b), [`MCPError`](other.md), [keys](other.md#pluginsc_d) and the header `Authorization`.

![a drawing](images/drawing.svg)

## [plugins.a_b]

"""


def test_links_and_images_have_targets(tmp_path: Path) -> None:
    files = {
        "conf.py": CONF,
        "docs/page.md": PAGE,
        "docs/other.md": "# Other\n\n## [plugins.c_d]\n\nText\n",
        "docs/images/drawing.svg": "<svg/>",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    run(sys.executable, "-m", "sphinx", "-q", "-W", "-b", "markdown", ".", "site", cwd=tmp_path)
    copy = (tmp_path / "site" / "docs" / "page.md").read_text("utf-8")
    assert "See [the tables](#pluginsa_b), [`MCPError`](other.md), [keys](other.md#pluginsc_d) and" in copy
    assert "the header `Authorization`." in copy
    assert "![a drawing](../_images/drawing.svg)" in copy
