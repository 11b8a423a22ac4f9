"""The toolkit for the official suite: tools, resources and prompts with the names and results that it requires.

It is copied into a distribution that the server under test finds, so it imports nothing but `pegboard`'s public names.
It holds what today's features can serve; `expected.yml` says which scenarios find nothing here, and why.
"""

from __future__ import annotations

import base64
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
MISSING_CAPABILITY = -32021
"""A request needs a capability that its client does not declare (2026-07-28, basic)."""

kit = Toolkit("conformance", prefix=False)


@kit.tool
def test_simple_text() -> str:
    """Answer with text."""
    return "This is a simple text response for testing."


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
def test_logging_tool() -> str:
    """Answer without a log message."""
    return "nothing was logged"


@kit.tool
def test_streaming_elicitation() -> str:
    """Answer without a question: nothing but notifications and the result may stand on the stream."""
    return "nothing was asked"


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


@kit.tool
def test_image_content() -> ImageContent:
    """Answer with a picture."""
    return ImageContent(PIXEL, "image/png")


@kit.tool
def test_audio_content() -> AudioContent:
    """Answer with a sound."""
    return AudioContent(SILENCE, "audio/wav")


@kit.tool
def test_embedded_resource() -> EmbeddedResource:
    """Answer with the content of a resource."""
    text = "This is an embedded resource content."
    return EmbeddedResource(ResourceContents("test://embedded-resource", text, "text/plain"))


@kit.tool
def test_multiple_content_types() -> list[str | ImageContent | EmbeddedResource]:
    """Answer with a text, a picture and a resource."""
    data = ResourceContents("test://mixed-content-resource", '{"test": "data", "value": 123}', "application/json")
    return ["Multiple content types test:", ImageContent(PIXEL, "image/png"), EmbeddedResource(data)]


@kit.resource("test://static-text", name="static-text", description="Text that never changes")
def static_text() -> str:
    return "This is the content of the static text resource."


@kit.resource("test://static-binary", name="static-binary", description="A picture", mime_type="image/png")
def static_binary() -> bytes:
    return PIXEL


@kit.resource("test://template/{id}/data", name="template-data", description="Data by id", mime_type="application/json")
def template_data(id: str) -> dict[str, Any]:
    return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


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
    embedded = ResourceContents(resource_uri, "Embedded resource content for testing.", "text/plain")
    return [PromptMessage(EmbeddedResource(embedded)), PromptMessage("Please process the embedded resource above.")]


@kit.prompt
def test_prompt_with_image() -> list[PromptMessage]:
    """A prompt with a picture."""
    return [PromptMessage(ImageContent(PIXEL, "image/png")), PromptMessage("Please analyze the image above.")]


@kit.prompt
def test_simple_prompt() -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."
