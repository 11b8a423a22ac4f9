"""The examples that the description gives of answers; where one does not fit its own schema, with that mended."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, NamedTuple

from toolkits.github.tests.support.description import operations, resolved

Place = tuple[str | int, ...]


class Fault(NamedTuple):
    """Where an example leaves out or spoils something that its schema asks for, and what belongs there."""

    operation: str
    status: int
    name: str
    place: Place
    value: Any


_CONTENTS = (
    "https://api.github.com/repos/octocat/Hello-World/contents/file1.txt?ref=7ca483543807a51b6079e54ac4cc392bc29ae284"
)
FAULTS = (
    Fault("repos/get", 200, "default-response", ("language",), None),
    Fault("repos/get", 200, "default-response", ("source", "language"), None),
    Fault("repos/get-commit", 200, "default", ("files", 0, "contents_url"), _CONTENTS),
    Fault("repos/get-commit", 200, "default", ("files", 0, "sha"), "bbcd538c8e72b8c175046e27cc8f907076331401"),
    Fault("repos/list-branches", 200, "default", (0, "protection", "required_status_checks", "checks"), []),
    Fault("actions/list-jobs-for-workflow-run", 200, "default", ("jobs", 0, "created_at"), "2020-01-20T17:42:39Z"),
    Fault("actions/re-run-workflow", 201, "default", (), {}),
    Fault("actions/re-run-workflow-failed-jobs", 201, "default", (), {}),
    Fault("pulls/list", 200, "default", (0, "requested_teams", 0, "type"), "organization"),
    Fault("pulls/get", 200, "default", ("requested_teams", 0, "type"), "organization"),
    Fault("pulls/create", 201, "default", ("requested_teams", 0, "type"), "organization"),
    Fault("pulls/request-reviewers", 201, "default", ("requested_teams", 0, "type"), "organization"),
    Fault("search/issues-and-pull-requests", 200, "lexical-fallback", ("items",), []),
)


def names(operation: str, status: int) -> list[str]:
    """The names of the examples of one answer."""
    content = operations()[operation].responses[status].get("content", {})
    return list(content.get("application/json", {}).get("examples", {}))


def original(operation: str, status: int, name: str = "") -> Any:
    """A copy of an example as the description has it, the first one unless named."""
    examples = operations()[operation].responses[status]["content"]["application/json"]["examples"]
    value = resolved(examples[name or next(iter(examples))])["value"]
    return deepcopy(resolved(value)["value"] if isinstance(value, dict) and "$ref" in value else value)


def example(operation: str, status: int = 200, name: str = "") -> Any:
    """A copy of an example that fits its schema."""
    name = name or names(operation, status)[0]
    value = original(operation, status, name)
    for fault in FAULTS:
        if (fault.operation, fault.status, fault.name) == (operation, status, name):
            value = mended(value, fault)
    return value


def mended(value: Any, fault: Fault) -> Any:
    """Put what belongs there in its place."""
    if not fault.place:
        return deepcopy(fault.value)
    node = value
    for step in fault.place[:-1]:
        node = node[step]
    node[fault.place[-1]] = deepcopy(fault.value)
    return value
