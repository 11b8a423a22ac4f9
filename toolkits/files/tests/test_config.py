"""The settings: defaults, and errors that name what is wrong."""

import os
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from toolkit_files import FilesConfig


def test_the_defaults_read_below_the_working_directory_and_write_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    config = FilesConfig()
    assert config.roots == (".",)
    assert not config.write
    assert ".git" in config.ignore
    assert (config.deny, config.allow) == ((), ())
    assert config.protect == (".git", "hostconfig.toml")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"roots": ["nowhere"]}, r"the root 'nowhere' does not exist \(looked for at '.*/nowhere'\)"),
        ({"roots": [".", "file"]}, "the root 'file' is not a directory"),
        ({"roots": ["a\0b"]}, "does not exist"),
        ({"roots": []}, "at least 1"),
        ({"roots": "."}, "valid tuple"),
        ({"root": ["."]}, "Extra inputs"),
        ({"max_read_bytes": 10}, "greater than or equal to 1024"),
        ({"max_entries": 0}, "greater than or equal to 1"),
        ({"max_matches": 0}, "greater than or equal to 1"),
        ({"max_search_seconds": 0}, "greater than 0"),
        ({"ignore": ["[z-a]"]}, "not a valid glob"),
        ({"deny": [""]}, "A glob must have"),
        ({"allow": ["[z-a]"]}, "not a valid glob"),
        ({"protect": ["{a,b}" * 9]}, "braces"),
    ],
)
def test_what_is_wrong_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ValidationError, match=reason):
        FilesConfig(**settings)


def test_a_root_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(ValidationError, match="cannot be read by the host"):
        FilesConfig(roots=(str(tmp_path),))


def test_a_root_may_begin_with_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "notes").mkdir()
    assert FilesConfig(roots=("~/notes",)).roots == (str(tmp_path / "notes"),)
