"""GitHub's OpenAPI description as a judge of requests and responses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import best_match
from jsonschema.protocols import Validator

from toolkits.github.tests.openapi.cut import resolve

FILE = Path(__file__).parent.parent / "openapi" / "description.json"
BASIC_ERROR = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/basic-error"}}}}
ANYWHERE: Mapping[int, dict[str, Any]] = {304: {}} | dict.fromkeys(
    (301, 307, 401, 403, 404, 410, 429, 451, 500, 502), BASIC_ERROR
)
"""Statuses that GitHub documents for all operations; the description lists them for some."""
OWN_HEADERS = {"accept", "authorization", "content-type", "if-none-match", "user-agent", "x-github-api-version"}
HTTP_HEADERS = {"accept-encoding", "connection", "content-length", "host", "transfer-encoding"}
MEDIA = re.compile(r"application/(vnd\.github(\.text-match)?\+json)")
ONLY_DESCRIBE = {"deprecated", "example", "readOnly", "title", "x-multi-segment", "nullable"}
FORMATS = FormatChecker(formats=())


class Mismatch(AssertionError):
    """A request or response does not match GitHub's description."""


@dataclass(frozen=True, eq=False)
class Operation:
    """An operation of the description, with references resolved one level deep."""

    id: str
    method: str
    template: str
    parameters: tuple[dict[str, Any], ...]
    body: dict[str, Any] | None
    responses: Mapping[int, dict[str, Any]]


@dataclass(frozen=True)
class Request:
    """A valid request. Its parameters have the types of the description."""

    operation: Operation
    path: Mapping[str, Any]
    query: Mapping[str, Any]
    headers: Mapping[str, str]
    body: Any


@cache
def description() -> dict[str, Any]:
    """Return the description."""
    loaded: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return loaded


def resolved(node: dict[str, Any]) -> dict[str, Any]:
    """Follow references."""
    while "$ref" in node:
        node = resolve(description(), node["$ref"])
    return node


@cache
def operations() -> Mapping[str, Operation]:
    """Return every operation by its id."""
    operations_by_id = {}
    for template, methods in description()["paths"].items():
        for method, spec in methods.items():
            operations_by_id[spec["operationId"]] = Operation(
                spec["operationId"],
                method.upper(),
                template,
                tuple(resolved(parameter) for parameter in spec.get("parameters", ())),
                spec.get("requestBody"),
                {int(status): resolved(response) for status, response in spec["responses"].items()},
            )
    return operations_by_id


def check_request(method: str, target: str, headers: Mapping[str, str], body: bytes) -> Request:
    """Return the request with its operation. `target` is the path below the API's base, with the query."""
    raw_path, _, raw_query = target.partition("?")
    operation, path = _matched(method, raw_path)
    values = _parameters(operation, "path", path.items())
    pairs = parse_qsl(raw_query, keep_blank_values=True, strict_parsing=bool(raw_query))
    query = _parameters(operation, "query", pairs)
    _check_headers({name.lower(): value for name, value in headers.items()}, body)
    return Request(operation, values, query, headers, _checked_body(operation, body))


def check_response(operation: Operation, status: int, headers: Mapping[str, str], body: bytes) -> None:
    """Check the status, the headers (with lowercase names) and the body of a response."""
    described = operation.responses.get(status, ANYWHERE.get(status))
    if described is None:
        raise Mismatch(f"{operation.id} has no response {status}")
    for name, header in described.get("headers", {}).items():
        if name.lower() in headers:
            check_value(resolved(header)["schema"], headers[name.lower()], f"{operation.id} {status} header {name}")
    content = described.get("content", {}).get("application/json")
    if content is None:
        if body:
            raise Mismatch(f"{operation.id} {status} has no body")
        return
    check_value(content["schema"], _parsed(body, f"{operation.id} {status}"), f"{operation.id} {status}")


def check_value(schema: dict[str, Any], value: Any, subject: str) -> None:
    """Check one value against a schema of the description."""
    error = best_match(_validator(json.dumps(schema, sort_keys=True)).iter_errors(value))
    if error is not None:
        raise Mismatch(f"{subject}{error.json_path[1:]}: {error.message[:300]}")


def _matched(method: str, raw_path: str) -> tuple[Operation, dict[str, str]]:
    fits = []
    for operation in operations().values():
        match = re.fullmatch(_pattern(operation), raw_path) if operation.method == method else None
        if match:
            fits.append((len(re.sub(r"\{\w+\}", "", operation.template)), operation, match.groupdict()))
    if not fits:
        raise Mismatch(f"there is no operation {method} {raw_path}")
    _, operation, path = max(fits, key=lambda fit: fit[0])
    if any(part in (".", "..") for value in path.values() for part in unquote(value).split("/")):
        raise Mismatch(f"{raw_path} leaves its place")
    return operation, {name: unquote(value, errors="strict") for name, value in path.items()}


@cache
def _pattern(operation: Operation) -> str:
    """Return a pattern with one segment per parameter. A parameter of several segments may be empty."""
    several = {item["name"] for item in operation.parameters if item.get("x-multi-segment")}
    pattern = ""
    for literal, name in re.findall(r"([^{]*)(?:\{(\w+)\})?", operation.template):
        pattern += re.escape(literal)
        if name:
            pattern += f"(?P<{name}>(?:[^/]+(?:/[^/]+)*)?)" if name in several else f"(?P<{name}>[^/]+)"
    return pattern


def _parameters(operation: Operation, place: str, sent: Iterable[tuple[str, str]]) -> dict[str, Any]:
    described = {item["name"]: item for item in operation.parameters if item["in"] == place}
    values: dict[str, Any] = {}
    for name, text in sent:
        if name not in described or name in values:
            raise Mismatch(f"{operation.id} does not accept the {place} parameter {name}, or only once")
        schema = resolved(described[name]["schema"])
        values[name] = _typed(schema, text)
        check_value(schema, values[name], f"{operation.id} {place} parameter {name}")
    if missing := [name for name, item in described.items() if item.get("required") and name not in values]:
        raise Mismatch(f"{operation.id} requires the {place} parameter {', '.join(missing)}")
    return values


def _typed(schema: dict[str, Any], text: str) -> Any:
    if schema.get("type") == "integer" and re.fullmatch(r"-?\d+", text):
        return int(text)
    return text == "true" if schema.get("type") == "boolean" and text in ("true", "false") else text


def _check_headers(headers: Mapping[str, str], body: bytes) -> None:
    if unknown := headers.keys() - OWN_HEADERS - HTTP_HEADERS:
        raise Mismatch(f"unexpected headers: {', '.join(sorted(unknown))}")
    if headers.get("x-github-api-version") != "2022-11-28":
        raise Mismatch("the request does not name the version of the API")
    if not MEDIA.fullmatch(headers.get("accept", "")):
        raise Mismatch(f"the request accepts {headers.get('accept')}")
    if not headers.get("user-agent", "").startswith("toolkit-github/"):
        raise Mismatch("GitHub refuses requests without a user agent")
    if body and headers.get("content-type") != "application/json":
        raise Mismatch(f"the body is {headers.get('content-type')}")


def _checked_body(operation: Operation, body: bytes) -> Any:
    if operation.body is None or not body:
        if body or (operation.body and operation.body.get("required")):
            raise Mismatch(f"{operation.id} {'does not accept' if body else 'requires'} a body")
        return None
    value = _parsed(body, operation.id)
    schema = operation.body["content"]["application/json"]["schema"]
    check_value(schema, value, f"{operation.id} body")
    if unknown := value.keys() - schema["properties"].keys():
        raise Mismatch(f"{operation.id} body has unknown members {', '.join(sorted(unknown))}")
    return value


def _parsed(body: bytes, subject: str) -> Any:
    try:
        return json.loads(body)
    except ValueError as error:
        raise Mismatch(f"{subject} is not JSON: {error}") from None


@cache
def _validator(schema: str) -> Validator:
    whole = {**_converted(json.loads(schema)), "components": {"schemas": _schemas()}}
    return Draft202012Validator(whole, format_checker=FORMATS)


@cache
def _schemas() -> dict[str, Any]:
    return {name: _converted(schema) for name, schema in description()["components"]["schemas"].items()}


def _converted(node: Any) -> Any:
    """Convert an OpenAPI 3.0 schema to JSON Schema. `oneOf` becomes `anyOf`, because GitHub's alternatives overlap."""
    if isinstance(node, list):
        return [_converted(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties":
            kept[key] = {name: _converted(schema) for name, schema in value.items()}
        elif key in ("enum", "default", "required"):
            kept[key] = value
        elif key not in ONLY_DESCRIBE:
            kept["anyOf" if key == "oneOf" else key] = _converted(value)
    return {"anyOf": [kept, {"type": "null"}]} if node.get("nullable") else kept


@FORMATS.checks("date-time", raises=ValueError)
def _is_date_time(value: object) -> bool:
    if isinstance(value, str):
        datetime.fromisoformat(value)
        return "T" in value
    return True


@FORMATS.checks("uri")
def _is_uri(value: object) -> bool:
    return not isinstance(value, str) or re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]+", value) is not None
