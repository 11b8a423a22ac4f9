"""The list of questions for new maintainers: its answers exist."""

from __future__ import annotations

import tomllib
from importlib.util import find_spec
from pathlib import Path

QUESTIONS: dict[str, list[str]] = tomllib.loads(Path(__file__).with_name("questions.toml").read_text("utf-8"))


def test_the_answers_of_thirty_questions_exist() -> None:
    assert len(QUESTIONS) == 30
    assert [module for modules in QUESTIONS.values() for module in modules if find_spec(module) is None] == []
