"""Makes the site from plain files: the sections of docs/README.md are its navigation, and examples are pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from os.path import normpath, relpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.parsers import Parser

if TYPE_CHECKING:
    from sphinx.application import Sphinx

INDEX = "docs/README"
SUMMARIES = "summaries.js"
MAX_SUMMARY_CHARACTERS = 240
_LINKED = re.compile(r"\[([^]]+)\]\(([^)#:]+)\.md\)")
_LINK = re.compile(r"\[([^]]+)\]\(([^)#:]+)\)")
_LINK_OR_NAME = re.compile(r"\[([^]]+)\]\([^)]+\)")
_CODE = re.compile(r"\]\(([^)#:]+\.py)\)")


def linked_code(root: Path, pages: Iterable[str]) -> list[str]:
    """Return the Python files that pages link to, relative to the root. Patterns name the pages."""
    files: set[Path] = set()
    for page in (page for pattern in pages for page in root.glob(pattern)):
        files.update((page.parent / file).resolve() for file in _CODE.findall(page.read_text("utf-8")))
    return sorted(relpath(file, root) for file in files)


def navigation(index: str) -> dict[str, dict[str, str]]:
    """Return the names of the pages that each section of the index links to. A page belongs to its first section."""
    seen: set[str] = set()
    sections = {}
    for section in index.split("\n## ")[1:]:
        named = {page: name for name, page in _LINKED.findall(section) if page not in seen}
        seen.update(named)
        sections[section.partition("\n")[0]] = named
    return sections


def toctrees(index: str) -> str:
    """Return hidden tables of contents for the sections of the index."""
    blocks = [""]
    for title, pages in navigation(index).items():
        listed = "\n".join(f"{_title(name)} <{_place(page)}>" for page, name in pages.items())
        blocks.append(f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n{listed}\n```\n")
    return "\n".join(blocks)


def llms_txt(index: str) -> str:
    """Return the file `llms.txt`: the sections of the index, with the Markdown copies of their pages."""
    introduction = " ".join(_LINK_OR_NAME.sub(r"\1", index).split("\n\n")[1].split()).partition(". ")[0]
    parts = ["# pegboard\n", f"> {introduction}.\n"]
    for title, pages in navigation(index).items():
        listed = (f"- [{_title(name)}]({normpath(f'docs/{page}.md')})" for page, name in pages.items())
        parts += [f"## {title}\n", *listed, ""]
    return "\n".join(parts)


def _write_llms_txt(app: Sphinx, exception: Exception | None) -> None:
    if app.builder.name == "markdown" and exception is None:
        index = (Path(app.srcdir) / f"{INDEX}.md").read_text("utf-8")
        (Path(app.outdir) / "llms.txt").write_text(llms_txt(index), "utf-8")


def summary(page: nodes.document) -> str:
    """Return the beginning of the first paragraph of a page, or the first line of a page of code."""
    first = next(page.findall(lambda node: isinstance(node, nodes.paragraph | nodes.literal_block)))
    code = isinstance(first, nodes.literal_block)
    text = first.astext().partition("\n")[0].strip('"') if code else " ".join(first.astext().split())
    return text if len(text) <= MAX_SUMMARY_CHARACTERS else f"{text[:MAX_SUMMARY_CHARACTERS].rpartition(' ')[0]} ..."


def _write_summaries(app: Sphinx, exception: Exception | None) -> None:
    """Write the summary of each page, for the results of a search."""
    if app.builder.name == "html" and exception is None:
        found = [page for page in app.env.found_docs if "nosearch" not in app.env.metadata[page]]
        longest_first = sorted(found, key=lambda page: (-len(page), page))  # a name may end another
        summaries = {page: summary(app.env.get_doctree(page)) for page in longest_first}
        script = f"const SUMMARIES = {json.dumps(summaries, indent=0)};\n"
        (Path(app.outdir) / "_static" / SUMMARIES).write_text(script, "utf-8")


def _add_summaries(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None) -> None:
    """Load the summaries on the page of searches."""
    if page == "search":
        app.add_js_file(SUMMARIES)


def _title(name: str) -> str:
    return name.strip("`") if name.startswith("`") else name[0].upper() + name[1:]


def _place(page: str) -> str:
    return f"/{page.removeprefix('../')}" if page.startswith("../") else page


def _adapt(app: Sphinx, page: str, source: list[str]) -> None:
    """Add the navigation to the index. Links to folders, which have no page, become plain text."""
    folder = (Path(app.srcdir) / page).parent
    source[0] = _LINK.sub(lambda link: link[1] if (folder / link[2]).is_dir() else link[0], source[0])
    if page == INDEX:
        source[0] += toctrees(source[0])


class CodeParser(Parser):
    """Shows a Python file as a page: the name, and the code with colours. Only examples are in the search."""

    supported = ("code",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Add the page to a document."""
        name = Path(document["source"]).name
        environment = document.settings.env
        if not environment.docname.startswith("docs/"):
            environment.metadata[environment.docname]["nosearch"] = "it is not documentation"
        page = nodes.section("", nodes.title("", name), ids=[nodes.make_id(name)], names=[name])
        page += nodes.literal_block(inputstring, inputstring, language="python")
        document += page


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the parser and the navigation with Sphinx."""
    app.add_source_parser(CodeParser)
    app.connect("source-read", _adapt)
    app.connect("html-page-context", _add_summaries)
    app.connect("build-finished", _write_summaries)
    app.connect("build-finished", _write_llms_txt)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
