"""The toolkit for the official suite: tools, resources and prompts with the names and results that it requires.

It is copied into a distribution that the server under test finds, so it imports nothing but `pegboard`'s public names.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field

from pegboard import (
    AudioContent,
    Context,
    EmbeddedResource,
    ImageContent,
    PromptMessage,
    ResourceContents,
    ToolExecutionError,
    Toolkit,
)
from pegboard.plugin import ProtocolError

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
SILENCE = base64.b64decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")
IMAGE = ImageContent(PIXEL, "image/png")
MISSING_CAPABILITY = -32021
OUTLIVES_SECONDS = 0.7
"""More than twice the time after which the server answers with a stream, and ends it (`run.py`)."""

kit = Toolkit("conformance", prefix=False, skills="skills")


def embedded(uri: str, text: str, mime_type: str = "text/plain") -> EmbeddedResource:
    return EmbeddedResource(ResourceContents(uri, text, mime_type))


FIXED: dict[str, Any] = {
    "test_simple_text": "This is a simple text response for testing.",
    "test_logging_tool": "nothing was logged",
    "test_streaming_elicitation": "nothing was asked",
    "test_image_content": IMAGE,
    "test_audio_content": AudioContent(SILENCE, "audio/wav"),
    "test_embedded_resource": embedded("test://embedded-resource", "This is an embedded resource content."),
    "test_multiple_content_types": [
        "Multiple content types test:",
        IMAGE,
        embedded("test://mixed-content-resource", '{"test": "data", "value": 123}', "application/json"),
    ],
}


def fixed(value: Any) -> Callable[[], Any]:
    return lambda: value


for name, value in FIXED.items():
    kit.tool(name=name, description="Return a fixed result.")(fixed(value))


@kit.tool
def test_error_handling() -> str:
    """Fail on purpose."""
    raise ToolExecutionError("This tool intentionally returns an error for testing")


@kit.tool
async def test_tool_with_progress(context: Context) -> str:
    """Report progress three times."""
    for done in (0, 50, 100):
        await context.progress.report(done, 100, f"step {done} of 100")
    return "done"


@kit.tool
async def test_tool_with_logging(context: Context) -> str:
    """Log three times."""
    for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await context.log.info(message)
    return "done"


@kit.tool
def test_missing_capability(context: Context) -> str:
    """Refuse a client that cannot sample."""
    if "sampling" not in context.client.capabilities:
        message = "This tool needs the client's capability sampling"
        raise ProtocolError(MISSING_CAPABILITY, message, {"requiredCapabilities": {"sampling": {}}})
    return "the client can sample"


@kit.tool
async def test_reconnection() -> str:
    """Take so long that the server ends the stream, and its client comes back for the result."""
    await asyncio.sleep(OUTLIVES_SECONDS)
    return "Reconnection test completed successfully."


@kit.tool(name="test_x_mcp_header")
def mirrored(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "") -> str:
    """Take an argument that a header mirrors."""
    return f"region: {region}"


CONTACT = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@kit.tool(name="json_schema_2020_12_tool", input_schema=CONTACT)
def contact(**arguments: Any) -> str:
    """Take arguments by a schema that no signature could express."""
    return "contact: " + ", ".join(sorted(arguments))


RESOURCES: dict[str, tuple[str, str | bytes, str]] = {
    "static-text": ("test://static-text", "This is the content of the static text resource.", "text/plain"),
    "static-binary": ("test://static-binary", PIXEL, "image/png"),
    "watched-resource": ("test://watched-resource", "Watched resource content", "text/plain"),
}
for name, (uri, content, kind) in RESOURCES.items():
    kit.resource(uri, name=name, description="Content that never changes", mime_type=kind)(fixed(content))


@kit.resource("test://template/{id}/data", name="template-data", description="Data by id", mime_type="application/json")
def template_data(id: str) -> dict[str, Any]:
    return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


@kit.prompt
def test_simple_prompt() -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."


@kit.prompt
def test_prompt_with_arguments(
    arg1: Annotated[str, "First test argument"], arg2: Annotated[str, "Second test argument"]
) -> str:
    """A prompt with two arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@kit.completion(test_prompt_with_arguments, "arg1")
def beginnings(typed: str) -> list[str]:
    return [word for word in ("paris", "park", "party", "test", "testing") if word.startswith(typed)]


@kit.prompt(name="test_prompt_with_embedded_resource")
def embedding(resource_uri: Annotated[str, "resourceUri", "URI of the resource to embed"]) -> list[PromptMessage]:
    """A prompt that embeds a resource."""
    content = embedded(resource_uri, "Embedded resource content for testing.")
    return [PromptMessage(content), PromptMessage("Please process the embedded resource above.")]


@kit.prompt
def test_prompt_with_image() -> list[PromptMessage]:
    """A prompt with a picture."""
    return [PromptMessage(IMAGE), PromptMessage("Please analyze the image above.")]
