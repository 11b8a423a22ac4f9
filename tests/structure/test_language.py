"""Docs and docstrings are plain English: no sentence opens with What, Who or Whether, and "what" is rare."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import chain

from tests.structure.sources import ROOT

OPENINGS = r"What(?!\?)|Who(?:ever|m)?|Whether|Whatever|One that|Nobody|Somebody"
BANNED = re.compile(rf"(?:^|[.!?:]\s+)((?:{OPENINGS})\b[^.?]*)", re.M)
MAX_WHAT_PER_THOUSAND_WORDS = 3


def pages() -> Iterator[tuple[str, str]]:
    """Yield the prose of each page, without code."""
    for path in chain(ROOT.glob("*.md"), ROOT.glob("docs/**/*.md"), ROOT.glob("toolkits/*/README.md")):
        if path.name != "requirements.md":  # the specification's rules
            yield path.name, re.sub(r"^```.*?^```|^    .*?$", "", path.read_text("utf-8"), flags=re.M | re.S)


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield each docstring of the host, the plugins, the toolkits and the tools."""
    folders = ("host", "plugins", "toolkits", "tools")
    for path in chain.from_iterable(ROOT.glob(f"{folder}/**/*.py") for folder in folders):
        if "tests" in path.parts or path.name.startswith("v20"):  # generated from the official schemas
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                yield f"{path.name}:{node.lineno}", node.value.value


def test_no_sentence_opens_with_what_who_or_whether() -> None:
    opened = [
        f"{place}: {opening[:60]}" for place, text in (*pages(), *docstrings()) for opening in BANNED.findall(text)
    ]
    assert opened == []


def test_what_is_rare() -> None:
    for source in (pages(), docstrings()):
        words = [word.lower() for _, text in source for word in re.findall(r"[A-Za-z']+", text)]
        assert 1000 * words.count("what") / len(words) <= MAX_WHAT_PER_THOUSAND_WORDS
