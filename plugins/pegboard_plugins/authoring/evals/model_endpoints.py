"""Requests to models: the form of chat completions, and the form of Anthropic's messages."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from aiohttp import ClientError, ClientSession, ClientTimeout

from pegboard.errors import MCPError
from pegboard_evals import MAX_NAME_CHARACTERS, ActualCall, EvalCase, MCPToolDefinition

ADDRESSES = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com/v1"}
KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
"""The secrets that have the keys for these addresses."""
MAX_ATTEMPTS = 5
MAX_WAIT_SECONDS = 60.0
MAX_TOKENS = 4096
MAX_ANSWER_BYTES = 8 * 1024 * 1024
_REQUEST_SECONDS = 180
_TRY_AGAIN = frozenset((408, 409, 429, 500, 502, 503, 504, 529))


class UnansweredError(MCPError):
    """A model gave no answer that can be scored."""


class Model(NamedTuple):
    """A model at an address.

    Attributes:
        form: "openai" or "anthropic".
        name: the name of the model at the address.
        address: the URL of the API.
        key: the secret; None for an address that needs none.
    """

    form: str
    name: str
    address: str
    key: str | None

    def __str__(self) -> str:
        return f"{self.form}:{self.name}"


class Pace:
    """Delays requests: at a rate, and after a response that requests a delay.

    Args:
        rate: the greatest number of requests in a minute; 0 for no limit.
    """

    def __init__(self, rate: int) -> None:
        self._interval = 60 / rate if rate else 0.0
        self._next = 0.0

    async def turn(self) -> None:
        """Wait until the next request may be sent."""
        now = asyncio.get_running_loop().time()
        start = max(now, self._next)
        self._next = start + self._interval
        await asyncio.sleep(start - now)

    def delay(self, seconds: float) -> None:
        """Delay the next requests."""
        self._next = max(self._next, asyncio.get_running_loop().time() + min(seconds, MAX_WAIT_SECONDS))


async def ask_model(
    session: ClientSession,
    pace: Pace,
    model: Model,
    case: EvalCase,
    tools: Sequence[MCPToolDefinition],
    seed: int | None,
) -> list[ActualCall]:
    """Return the tool calls with which a model answers a case. Failures that may pass are tried again.

    Raises:
        UnansweredError: the model refuses the request, or gives no valid answer in time.
    """
    make, read = (_messages, _message_calls) if model.form == "anthropic" else (_completion, _completion_calls)
    body = make(model, case, tools, seed)
    reason = ""
    for attempt in range(MAX_ATTEMPTS):
        await pace.turn()
        try:
            return read(await _answer(session, pace, model, body))
        except UnansweredError:
            raise
        except (ClientError, TimeoutError, LookupError, TypeError, ValueError, AttributeError) as error:
            reason = str(error) if isinstance(error, ClientError) else f"no valid answer ({type(error).__name__})"
            pace.delay(2.0 ** (attempt - 2))
    raise UnansweredError(f"{model}: {_masked(reason, model)}")


class _BusyError(ClientError):
    """The response says that a later attempt may succeed."""


async def _answer(session: ClientSession, pace: Pace, model: Model, body: Mapping[str, Any]) -> Any:
    """Return the JSON of an answer."""
    path = "messages" if model.form == "anthropic" else "chat/completions"
    headers = {} if model.key is None else {"Authorization": f"Bearer {model.key}"}
    if model.form == "anthropic":
        headers = ({} if model.key is None else {"x-api-key": model.key}) | {"anthropic-version": "2023-06-01"}
    url, limit = f"{model.address.rstrip('/')}/{path}", ClientTimeout(_REQUEST_SECONDS)
    async with session.post(url, json=body, headers=headers, timeout=limit, allow_redirects=False) as response:
        content = bytearray()
        async for chunk in response.content.iter_chunked(65_536):
            content += chunk
            if len(content) > MAX_ANSWER_BYTES:
                raise UnansweredError(f"{model}: the answer has more than {MAX_ANSWER_BYTES:,} bytes")
        text = content.decode("utf-8", "replace")
        if response.status in _TRY_AGAIN:
            wait = response.headers.get("Retry-After", "")
            pace.delay(float(wait) if re.fullmatch(r"\d+(\.\d+)?", wait) else 1.0)
            raise _BusyError(f"HTTP {response.status}")
        if response.status != 200:
            shown = " ".join(_masked(text, model)[:300].split())
            raise UnansweredError(f"{model}: HTTP {response.status}: {shown}")
    return json.loads(text)


def _masked(text: str, model: Model) -> str:
    return text.replace(model.key, "***") if model.key else text


def _function(tool: MCPToolDefinition, schema: str) -> dict[str, Any]:
    """Return a tool with a name that all models accept. Names are compared without regard to separators."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", tool["name"])[:MAX_NAME_CHARACTERS]
    return {"name": name, "description": tool.get("description", ""), schema: tool.get("inputSchema", {})}


def _completion(model: Model, case: EvalCase, tools: Sequence[MCPToolDefinition], seed: int | None) -> dict[str, Any]:
    return {
        "model": model.name,
        "messages": case.messages,
        "tools": [{"type": "function", "function": _function(tool, "parameters")} for tool in tools],
        "tool_choice": "auto",
        **({} if seed is None else {"seed": seed}),
    }


def _completion_calls(answer: Any) -> list[ActualCall]:
    calls = answer["choices"][0]["message"].get("tool_calls") or ()
    functions = [call["function"] for call in calls]
    return [(str(function["name"]), _arguments(function.get("arguments"))) for function in functions]


def _arguments(value: Any) -> dict[str, Any]:
    """Return arguments, which may be JSON text. Invalid ones are {}: the critics then miss their values."""
    try:
        decoded = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return {}
    return decoded if isinstance(decoded, dict) else {}


def _messages(model: Model, case: EvalCase, tools: Sequence[MCPToolDefinition], seed: int | None) -> dict[str, Any]:
    turns: list[dict[str, Any]] = []
    for message in case.messages[1:]:
        role, blocks = _blocks(message)
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        elif blocks:
            turns.append({"role": role, "content": blocks})
    return {
        "model": model.name,
        "max_tokens": MAX_TOKENS,
        "system": case.system_message,
        "messages": turns,
        "tools": [_function(tool, "input_schema") for tool in tools],
    }


def _blocks(message: Mapping[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    """Return the role and the blocks of a message that has the form of chat completions."""
    content = message.get("content") or ""
    if message.get("role") in ("tool", "function"):
        name = message.get("tool_call_id") or message.get("name", "")
        return "user", [{"type": "tool_result", "tool_use_id": name, "content": content}]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) and content else [*content]
    for call in message.get("tool_calls") or ():
        function = call["function"]
        arguments = _arguments(function.get("arguments"))
        blocks.append({"type": "tool_use", "id": call.get("id", ""), "name": function["name"], "input": arguments})
    return ("assistant" if message.get("role") == "assistant" else "user"), blocks


def _message_calls(answer: Any) -> list[ActualCall]:
    blocks = [block for block in answer["content"] if block["type"] == "tool_use"]
    return [(str(block["name"]), _arguments(block.get("input"))) for block in blocks]
