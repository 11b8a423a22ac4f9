"""The answers of pegboard on docs/error-messages.md are those of a server."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.docs.pages import Page
from tools.error_messages.__main__ import OURS
from tools.error_messages.calls import CALLS, answers

PAGE = Page("docs/error-messages.md")


def test_the_page_has_the_answers_of_a_server() -> None:
    sections = PAGE.split("\n### ")[1:]
    shown = {section.partition("\n")[0]: section.split("```\n")[1].rstrip() for section in sections}
    assert shown == dict(zip((call.mistake for call in CALLS), answers(Path(sys.executable), *OURS), strict=True))
    assert len(CALLS) == 20
