"""Adapts links and images for the Markdown copies of the pages, whose builder leaves them empty or wrong."""

from __future__ import annotations

from posixpath import dirname, join, normpath, relpath
from typing import TYPE_CHECKING

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def _slug(app: Sphinx, page: str, section: str) -> str:
    """Return the name that readers of Markdown give to a section with this id."""
    slugs = app.env.metadata[page].get("myst_slugs", {})
    return next((slug for slug, (_, known, _) in slugs.items() if known == section), section)


def _adapt(app: Sphinx, tree: nodes.document, page: str) -> None:
    if app.builder.name != "markdown":
        return
    for link in tree.findall(nodes.reference):
        target, _, section = link.get("refuri", "").partition("#")
        if "refid" in link:
            link["internal"], link["refid"] = True, _slug(app, page, link["refid"])
        elif link.get("internal") and section:
            linked = normpath(join(dirname(page), target)).removesuffix(".md")
            link["refuri"] = f"{target}#{_slug(app, linked, section)}"
    for image in tree.findall(nodes.image):
        copied = app.env.images.get(image["uri"])
        if copied:
            image["uri"] = relpath(f"_images/{copied[1]}", dirname(page) or ".")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the changes with Sphinx."""
    app.connect("doctree-resolved", _adapt)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
