"""GitHub's OpenAPI description as a judge: of a request, which operation it is and whether it fits; of an answer too.

It knows nothing of the tools, and serves nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from jsonschema.protocols import Validator

from toolkits.github.tests.openapi.cut import resolve
from toolkits.github.tests.support.schemas import FORMATS, converted

FILE = Path(__file__).parent.parent / "openapi" / "description.json"

ANYWHERE: Mapping[int, str | None] = {
    304: None,
    401: "#/components/schemas/basic-error",
    403: "#/components/schemas/basic-error",
    404: "#/components/schemas/basic-error",
    410: "#/components/schemas/basic-error",
    429: "#/components/schemas/basic-error",
    451: "#/components/schemas/basic-error",
    500: "#/components/schemas/basic-error",
    502: "#/components/schemas/basic-error",
    307: "#/components/schemas/basic-error",
    301: "#/components/schemas/basic-error",
}
"""Statuses that GitHub's documentation gives to every operation, and the description to some: each with its body."""

OWN_HEADERS = frozenset(
    {"accept", "authorization", "content-type", "if-none-match", "user-agent", "x-github-api-version"}
)
"""What a request may say; the rest is HTTP's own."""
HTTP_HEADERS = frozenset({"accept-encoding", "connection", "content-length", "host", "transfer-encoding"})

MEDIA = re.compile(r"application/(vnd\.github(\.text-match)?\+json)")


class Mismatch(AssertionError):
    """A request or an answer is not what GitHub's description says."""


@dataclass(frozen=True, eq=False)
class Operation:
    """One operation of the description, its references resolved one level deep."""

    id: str
    method: str
    template: str
    parameters: tuple[dict[str, Any], ...]
    body: dict[str, Any] | None
    responses: Mapping[int, dict[str, Any]]


@dataclass(frozen=True)
class Request:
    """A request that fits: its parameters by name, of the types that the description gives them."""

    operation: Operation
    path: Mapping[str, Any]
    query: Mapping[str, Any]
    headers: Mapping[str, str]
    body: Any


@cache
def description() -> dict[str, Any]:
    """The part of the description that is kept here."""
    loaded: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return loaded


@cache
def operations() -> Mapping[str, Operation]:
    """Every operation by its id."""
    found = {}
    for template, methods in description()["paths"].items():
        for method, spec in methods.items():
            responses = {int(status): resolved(response) for status, response in spec["responses"].items()}
            found[spec["operationId"]] = Operation(
                spec["operationId"],
                method.upper(),
                template,
                tuple(resolved(parameter) for parameter in spec.get("parameters", ())),
                spec.get("requestBody"),
                responses,
            )
    return found


def check_request(method: str, target: str, headers: Mapping[str, str], body: bytes) -> Request:
    """Find the operation and check all of the request; `target` is the path below the API's base, as sent.

    Raises:
        Mismatch: there is no such operation, or a part does not fit it.
    """
    raw_path, _, raw_query = target.partition("?")
    operation, path = _matched(method, raw_path)
    values = _parameters(operation, "path", path.items())
    query = _parameters(
        operation, "query", parse_qsl(raw_query, keep_blank_values=True, strict_parsing=bool(raw_query))
    )
    _check_headers({name.lower(): value for name, value in headers.items()}, body)
    return Request(operation, values, query, headers, _checked_body(operation, body))


def check_answer(operation: Operation, status: int, headers: Mapping[str, str], body: bytes) -> None:
    """Check the status, the described headers and the body of an answer.

    Raises:
        Mismatch: GitHub does not answer so.
    """
    described = operation.responses.get(status)
    if described is None and status in ANYWHERE:
        schema = ANYWHERE[status]
        described = {"content": {"application/json": {"schema": {"$ref": schema}}}} if schema else {}
    if described is None:
        raise Mismatch(f"{operation.id} has no answer {status}")
    for name, header in described.get("headers", {}).items():
        if name.lower() in headers:
            check_value(resolved(header)["schema"], headers[name.lower()], f"{operation.id} {status} header {name}")
    content = described.get("content", {}).get("application/json")
    if content is None:
        if body:
            raise Mismatch(f"{operation.id} {status} has no body")
        return
    if not headers.get("content-type", "").startswith("application/json"):
        raise Mismatch(f"{operation.id} {status} is JSON, not {headers.get('content-type')}")
    check_value(content["schema"], _parsed(body, f"{operation.id} {status}"), f"{operation.id} {status}")


def _matched(method: str, raw_path: str) -> tuple[Operation, dict[str, str]]:
    fits = []
    for operation in operations().values():
        found = re.fullmatch(_pattern(operation), raw_path) if operation.method == method else None
        if found:
            fits.append((len(re.sub(r"\{\w+\}", "", operation.template)), operation, found.groupdict()))
    if not fits:
        raise Mismatch(f"there is no operation {method} {raw_path}")
    _, operation, path = max(fits, key=lambda fit: fit[0])
    if any(part in (".", "..") for value in path.values() for part in unquote(value).split("/")):
        raise Mismatch(f"{raw_path} leaves its place")
    return operation, {name: unquote(value, errors="strict") for name, value in path.items()}


@cache
def _pattern(operation: Operation) -> str:
    """One segment for each parameter; a path of several may be empty, which GitHub's prose says is the top."""
    several = {item["name"] for item in operation.parameters if item.get("x-multi-segment")}
    pattern = ""
    for literal, name in re.findall(r"([^{]*)(?:\{(\w+)\})?", operation.template):
        pattern += re.escape(literal)
        if name:
            pattern += f"(?P<{name}>(?:[^/]+(?:/[^/]+)*)?)" if name in several else f"(?P<{name}>[^/]+)"
    return pattern


def _parameters(operation: Operation, place: str, given: Iterable[tuple[str, str]]) -> dict[str, Any]:
    described = {item["name"]: item for item in operation.parameters if item["in"] == place}
    values: dict[str, Any] = {}
    for name, text in given:
        if name not in described or name in values:
            raise Mismatch(f"{operation.id} takes no {place} parameter {name}, or not twice")
        schema = resolved(described[name]["schema"])
        values[name] = _typed(schema, text)
        check_value(schema, values[name], f"{operation.id} {place} parameter {name}")
    if missing := [name for name, item in described.items() if item.get("required") and name not in values]:
        raise Mismatch(f"{operation.id} needs the {place} parameter {', '.join(missing)}")
    return values


def _typed(schema: dict[str, Any], text: str) -> Any:
    kind = schema.get("type")
    if kind == "integer" and re.fullmatch(r"-?\d+", text):
        return int(text)
    if kind == "boolean" and text in ("true", "false"):
        return text == "true"
    return text


def _check_headers(headers: Mapping[str, str], body: bytes) -> None:
    if unknown := headers.keys() - OWN_HEADERS - HTTP_HEADERS:
        raise Mismatch(f"headers that nobody asked for: {', '.join(sorted(unknown))}")
    if headers.get("x-github-api-version") != "2022-11-28":
        raise Mismatch("the request does not name the version of the API")
    if not MEDIA.fullmatch(headers.get("accept", "")):
        raise Mismatch(f"the request asks for {headers.get('accept')}")
    if not headers.get("user-agent", "").startswith("toolkit-github/"):
        raise Mismatch("GitHub refuses requests without a user agent")
    if body and headers.get("content-type") != "application/json":
        raise Mismatch(f"the body is {headers.get('content-type')}")


def _checked_body(operation: Operation, body: bytes) -> Any:
    if operation.body is None:
        if body:
            raise Mismatch(f"{operation.id} takes no body")
        return None
    if not body:
        if operation.body.get("required"):
            raise Mismatch(f"{operation.id} needs a body")
        return None
    value = _parsed(body, operation.id)
    schema = operation.body["content"]["application/json"]["schema"]
    check_value(schema, value, f"{operation.id} body")
    if unknown := value.keys() - schema["properties"].keys():
        raise Mismatch(f"{operation.id} body has unknown members {', '.join(sorted(unknown))}")
    return value


def _parsed(body: bytes, what: str) -> Any:
    try:
        return json.loads(body)
    except ValueError as error:
        raise Mismatch(f"{what} is not JSON: {error}") from None


def check_value(schema: dict[str, Any], value: Any, what: str) -> None:
    """Check one value against a schema of the description."""
    error = best_match(_validator(json.dumps(schema, sort_keys=True)).iter_errors(value))
    if error is not None:
        raise Mismatch(f"{what}{error.json_path[1:]}: {error.message[:300]}")


@cache
def _validator(schema: str) -> Validator:
    whole = {**converted(json.loads(schema)), "components": {"schemas": _schemas()}}
    return Draft202012Validator(whole, format_checker=FORMATS)


@cache
def _schemas() -> dict[str, Any]:
    return {name: converted(schema) for name, schema in description()["components"]["schemas"].items()}


def resolved(node: dict[str, Any]) -> dict[str, Any]:
    """Follow a reference, if it is one."""
    while "$ref" in node:
        node = resolve(description(), node["$ref"])
    return node
