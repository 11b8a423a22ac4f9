"""Examples of GitHub's responses from its description. Examples that do not match their own schema are mended."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, NamedTuple

from toolkits.github.tests.support.description import operations, resolved


class Fault(NamedTuple):
    """A place in an example that does not match the schema, and a valid value for it."""

    operation: str
    name: str
    place: tuple[str | int, ...]
    value: Any


_CONTENTS = (
    "https://api.github.com/repos/octocat/Hello-World/contents/file1.txt?ref=7ca483543807a51b6079e54ac4cc392bc29ae284"
)
_TEAM = ("requested_teams", 0, "type")
FAULTS = (
    Fault("repos/get", "default-response", ("language",), None),
    Fault("repos/get", "default-response", ("source", "language"), None),
    Fault("repos/get-commit", "default", ("files", 0, "contents_url"), _CONTENTS),
    Fault("repos/get-commit", "default", ("files", 0, "sha"), "bbcd538c8e72b8c175046e27cc8f907076331401"),
    Fault("repos/list-branches", "default", (0, "protection", "required_status_checks", "checks"), []),
    Fault("actions/list-jobs-for-workflow-run", "default", ("jobs", 0, "created_at"), "2020-01-20T17:42:39Z"),
    Fault("pulls/list", "default", (0, *_TEAM), "organization"),
    Fault("pulls/get", "default", _TEAM, "organization"),
    Fault("pulls/create", "default", _TEAM, "organization"),
    Fault("pulls/request-reviewers", "default", _TEAM, "organization"),
)


def success(operation: str) -> int:
    """Return the first status of success of an operation."""
    return min(operations()[operation].responses)


def example(operation: str, name: str = "") -> Any:
    """Return a copy of an example of success, the first example unless named."""
    if operation.startswith("actions/re-run"):
        return {}
    content = operations()[operation].responses[success(operation)]["content"]["application/json"]["examples"]
    name = name or next(iter(content))
    value = resolved(content[name])["value"]
    value = deepcopy(resolved(value)["value"] if isinstance(value, dict) and "$ref" in value else value)
    for fault in FAULTS:
        if (fault.operation, fault.name) == (operation, name):
            node = value
            for step in fault.place[:-1]:
                node = node[step]
            node[fault.place[-1]] = fault.value
    return value
