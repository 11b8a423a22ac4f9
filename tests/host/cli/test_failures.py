"""Failures as JSON: one form, with the location and the nearest valid name as fields."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.command_line import Command
from tests.support.output_schema import problems

NO_FIELDS = {"file": None, "line": None, "column": None, "key": None, "place": None, "suggestion": None}


@pytest.mark.needs("configure", "edit_config", "secret", "tool_commands", "why")
@pytest.mark.parametrize(
    ("line", "text", "env", "code", "kind", "problem"),
    [
        ("lits", "", {}, 2, "USAGE", {"suggestion": "list"}),
        ("list --jsno", "", {}, 2, "USAGE", {"suggestion": "--json"}),
        ("call demo_echo text", "", {}, 2, "USAGE", {}),
        ("new planet mars", "", {}, 2, "USAGE", {}),
        ("configure remove curser", "", {}, 2, "USAGE", {"suggestion": "cursor"}),
        ("show demo_eco", "", {}, 1, "FAILED", {"suggestion": "demo_echo"}),
        ("why dmeo", "", {}, 1, "FAILED", {"suggestion": "demo"}),
        ("list", "[host", {}, 3, "CANNOT_START", {"line": 1, "column": 6}),
        ("list", "[host]\nnmae = 1", {}, 3, "CANNOT_START", {"line": 2, "key": "host.nmae", "suggestion": "name"}),
        (
            "list", "", {"PEGBOARD__HOST__PAGE_SIZE": "x"}, 3, "CANNOT_START",
            {"key": "host.page_size", "place": "environment variable PEGBOARD__HOST__PAGE_SIZE"},
        ),
        ("serve --port 99999", "", {}, 3, "CANNOT_START", {"key": "plugins.http.port", "place": "command line"}),
        ("list --config none.toml", "", {}, 3, "CANNOT_START", {"file": "none.toml"}),
        ("call demo_echo --only dmeo", "", {}, 3, "CANNOT_START", {"place": "--only", "suggestion": "demo"}),
        ("config set host.nmae x", "[host]\n", {}, 3, "CANNOT_START",
         {"line": 2, "key": "host.nmae", "suggestion": "name"}),
        ("secret unset DEMO_KEY", "", {}, 1, "FAILED", {}),
        ("show stdio", "", {}, 1, "FAILED", {}),
    ],
)  # fmt: skip
def test_a_failure_has_one_form(
    line: str, text: str, env: dict[str, str], code: int, kind: str, problem: dict[str, Any], pegboard: Command
) -> None:
    if text:
        pegboard.write(text)
    done = pegboard(*line.split(), "--json", env=env)
    assert (done.code, done.err) == (code, "")
    assert problems("failure", done.data) == []
    error = done.data["error"]
    assert (error["kind"], error["exit_code"]) == (kind, code)
    (detail,) = error["problems"]
    assert detail.pop("message") in error["message"]
    file = {"file": "hostconfig.toml"} if text else {}
    assert detail == {**NO_FIELDS, **file, **problem}


@pytest.mark.parametrize("line", ["stdio --config", "--file x stdio --config none.toml", "serve --transport stdio x"])
def test_the_failure_of_a_server_leaves_stdout_to_its_client(line: str, pegboard: Command) -> None:
    done = pegboard(*line.split(), "--json")
    assert (done.out, bool(done.err)) == ("", True)


@pytest.mark.needs("tool_commands")
def test_a_failed_call_has_the_form_of_every_failure(pegboard: Command) -> None:
    done, crashed = pegboard("call", "demo_again", "--json"), pegboard("call", "demo_crash", "--json")
    assert problems("failure", done.data) == problems("failure", crashed.data) == []
    error = done.data["error"]
    assert (error["kind"], error["exit_code"], error["retry_after_ms"]) == ("TOOL_RUNTIME_RETRY", 1, 50)
    assert error["problems"] == [{"message": error["message"], **NO_FIELDS}]
