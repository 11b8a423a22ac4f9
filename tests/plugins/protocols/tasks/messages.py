"""What the extension adds to the messages, and what a client declares."""

from typing import Any

from tests.support.rules import Added

DECLARED: dict[str, Any] = {"extensions": {"io.modelcontextprotocol/tasks": {}}, "elicitation": {"form": {}}}
TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"}
TASK: dict[str, Any] = {
    "type": "object",
    "properties": {
        "taskId": {"type": "string", "minLength": 32},
        "status": {"enum": ["working", "input_required", "completed", "failed", "cancelled"]},
        "createdAt": TIME,
        "lastUpdatedAt": TIME,
        "ttlMs": {"type": "integer"},
        "pollIntervalMs": {"type": "integer", "minimum": 1},
    },
    "required": ["taskId", "status", "createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs"],
    "allOf": [
        {
            "if": {"properties": {"status": {"const": status}}},
            "then": {"required": [member]},
            "else": {"not": {"required": [member]}},
        }
        for status, member in (("completed", "result"), ("failed", "error"), ("input_required", "inputRequests"))
    ],
}
ACKNOWLEDGED = {"type": "object", "not": {"required": ["taskId"]}}
CREATED = {
    **TASK,
    "allOf": [{}],
    "not": {"anyOf": [{"required": [name]} for name in ("result", "error", "inputRequests")]},
}
ADDED = Added(
    results={"tasks/get": TASK, "tasks/update": ACKNOWLEDGED, "tasks/cancel": ACKNOWLEDGED},
    kinds={"task": CREATED},
    notifications={"notifications/tasks": TASK},
)
