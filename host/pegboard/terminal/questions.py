"""Elicitation at the terminal, for commands that call tools.

A terminal supports forms and pages to open. It has no model to sample and no roots.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar

from pegboard.context.elicitation import choices, form_problem
from pegboard.errors import ClientError, ClientTimeoutError
from pegboard.terminal.blocking_descriptor import read_line
from pegboard.terminal.printing import printable, say
from pegboard.types.calls import OnProgress

_YES = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}
_HINTS = {"boolean": "yes or no", "integer": "a whole number", "number": "a number"}
_LEFT_OUT = object()


class Terminal:
    """The user at standard input and standard error, as an `Ask`. Questions are asked one at a time.

    Attributes:
        capabilities: the capabilities of a client with a terminal (MCP ClientCapabilities).
    """

    capabilities: ClassVar[Mapping[str, Any]] = {"elicitation": {"form": {}, "url": {}}}

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def __call__(
        self,
        method: str,
        params: dict[str, Any],
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - as `Ask` has it
        progress: OnProgress | None = None,
        reset_on_progress: bool = False,
        max_total: float | None = None,
    ) -> dict[str, Any]:
        """Ask a question and return the result. Ctrl-D cancels.

        Raises:
            ClientError: a terminal does not support the method.
            ClientTimeoutError: no answer came in time.
        """
        if method != "elicitation/create":
            raise ClientError(f"A terminal does not support {method}.")
        async with self._turn:
            try:
                async with asyncio.timeout(timeout):
                    return await _elicited(params)
            except EOFError:
                return {"action": "cancel"}
            except TimeoutError:
                raise ClientTimeoutError("No answer came in time.") from None


async def _elicited(params: Mapping[str, Any]) -> dict[str, Any]:
    _say_lines(params["message"])
    if params.get("mode") == "url":
        _say_lines(params["url"])
        return {"action": "accept" if await _confirmed("Did you open it?") else "decline"}
    schema = params["requestedSchema"]
    content = {}
    for name, field in schema["properties"].items():
        value = await _filled(name, field, required=name in schema.get("required", ()))
        if value is not _LEFT_OUT:
            content[name] = value
    if not await _confirmed("Send this?" if schema["properties"] else "Do you agree?"):
        return {"action": "decline"}
    return {"action": "accept", "content": content}


def _say_lines(text: str) -> None:
    """Print text of a tool. Further lines are indented, so that they cannot look like messages of the command."""
    for number, line in enumerate(text.splitlines()):
        say(f"  {line}" if number else line)


async def _filled(name: str, field: Mapping[str, Any], *, required: bool) -> Any:
    """Return the value of a field. The question is repeated until the answer is valid."""
    label = _label(name, field, required=required)
    while True:
        text = await _line(label)
        if not text and "default" in field:
            return field["default"]
        if not text and not required:
            return _LEFT_OUT
        value = _value(field, text)
        wrong = form_problem({"properties": {name: field}}, {name: value})
        if wrong is None:
            return value
        say(wrong)


def _label(name: str, field: Mapping[str, Any], *, required: bool) -> str:
    titles = {const: title for title, const in _titles(field).items()}
    values = choices(field)
    offered = [f"{value} ({titles[value]})" if value in titles else value for value in values or ()]
    hint = "|".join(offered) or _HINTS.get(field["type"], field.get("format", ""))
    if field["type"] == "array":
        hint += ", several with commas"
    notes = [hint, _shown(field["default"]) if "default" in field else "" if required else "optional"]
    label = ": ".join(text for text in (field.get("title", name), field.get("description")) if text)
    return label + "".join(f" [{note}]" for note in notes if note)


def _titles(field: Mapping[str, Any]) -> dict[str, str]:
    """Return the choices of a field by their titles."""
    entries = field.get("oneOf") or field.get("items", {}).get("anyOf") or ()
    names = zip(field.get("enumNames", ()), field.get("enum", ()), strict=False)
    return {entry["title"]: entry["const"] for entry in entries} | dict(names)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, list) else str(value)


def _value(field: Mapping[str, Any], text: str) -> Any:
    """Return a line as the type of a field. A line that cannot be converted is returned as a string."""
    kind = field["type"]
    titles = _titles(field)
    if kind == "boolean":
        return _YES.get(text.lower(), text)
    if kind == "array":
        parts = [part.strip() for part in text.split(",")]
        return [titles.get(part, part) for part in parts if part]
    if kind == "string":
        return titles.get(text, text)
    for convert in (int, float):
        with suppress(ValueError):
            return convert(text)
    return text


async def _confirmed(question: str) -> bool:
    while True:
        answer = _YES.get((await _line(f"{question} [yes or no]")).lower())
        if answer is not None:
            return answer


async def _line(label: str) -> str:
    """Read a line while the event loop runs. Raise EOFError at the end of the input."""
    print(f"  {printable(' '.join(label.split()))}: ", end="", file=sys.stderr, flush=True)
    line = await _read()
    if not line:
        print(file=sys.stderr)
        raise EOFError
    return line.decode("utf-8", "replace").strip()


async def _read() -> bytes:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(0, ready.set)
    except NotImplementedError:  # Windows
        return await read_line(0)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(0)
    return os.read(0, 65536)
