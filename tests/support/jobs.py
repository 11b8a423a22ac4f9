"""The sample `acme_jobs` as a distribution that hosts under test find, and the schemas of its messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.distributions import make_sample_site
from tests.support.rules import Added

JOBS = "com.acme/jobs"
DECLARED: dict[str, Any] = {"extensions": {JOBS: {}}}
CONFIG = '\n[plugins.jobs]\ntools = ["mill_grind", "mill_collapse"]\n'

_JOB: dict[str, Any] = {
    "type": "object",
    "properties": {
        "jobId": {"type": "string", "minLength": 32},
        "status": {"enum": ["working", "completed", "failed", "cancelled"]},
        "seen": {"type": "integer"},
        "result": {
            "type": "object",
            "properties": {"content": {"type": "array"}, "isError": {"type": "boolean"}},
            "required": ["content", "isError"],
        },
        "error": {
            "type": "object",
            "properties": {"code": {"type": "integer"}, "message": {"type": "string"}},
            "required": ["code", "message"],
        },
    },
    "required": ["jobId", "status", "seen"],
    "allOf": [
        {"if": {"properties": {"status": {"const": "completed"}}}, "then": {"required": ["result"]}},
        {"if": {"properties": {"status": {"const": "failed"}}}, "then": {"required": ["error"]}},
        {"if": {"properties": {"status": {"const": "working"}}}, "then": {"not": {"required": ["result"]}}},
    ],
}
ADDED = Added(
    results={"jobs/get": _JOB, "jobs/cancel": {"type": "object", "not": {"required": ["jobId"]}}},
    kinds={"job": {**_JOB, "required": [*_JOB["required"], "resultType", "content"]}},
    notifications={"notifications/jobs": _JOB},
)
"""The schemas of the messages of the extension."""


def make_jobs_site(site: Path) -> Path:
    return make_sample_site(site, "acme_jobs")
