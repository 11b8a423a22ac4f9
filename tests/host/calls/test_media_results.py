"""`Image`, `Audio` and `File` in results: their media types, their size, and errors that reveal no path."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegboard import (
    Audio,
    AudioContent,
    EmbeddedResource,
    File,
    Image,
    ImageContent,
    PromptMessage,
    PromptResult,
    ResourceContents,
    Toolkit,
    ToolResult,
)
from pegboard.calls.threads import Threads
from pegboard.content.rules import ContentError
from pegboard.types import Call
from tests.host.hosting import WAIT, call, failure, kit_of, make_host

PNG = b"\x89PNG\r\n\x1a\n\xfb"


def embedded(uri: str, content: str | bytes, mime_type: str) -> EmbeddedResource:
    return EmbeddedResource(ResourceContents(uri, content, mime_type))


@pytest.mark.parametrize(
    ("media", "data", "block"),
    [
        (Image("a.JPG"), PNG, ImageContent(PNG, "image/jpeg")),
        (Image("a"), PNG, ImageContent(PNG, "image/png")),
        (Image("a.txt"), b"RIFFsizeWEBP", ImageContent(b"RIFFsizeWEBP", "image/webp")),
        (Image(data=b"", mime_type="image/x"), b"", ImageContent(b"", "image/x")),
        (Audio("a.mp3"), b"", AudioContent(b"", "audio/mpeg")),
        (Audio("a"), b"RIFFsizeWAVE", AudioContent(b"RIFFsizeWAVE", "audio/wav")),
        (File("dir/a b.md"), b"# A", embedded("file:///a%20b.md", "# A", "text/markdown")),
        (File("a.txt", uri="x:y"), b"\xff", embedded("x:y", b"\xff", "text/plain")),
        (File(data=b"%PDF-1"), b"%PDF-1", embedded("file:///file", b"%PDF-1", "application/pdf")),
        (File("a"), b"a", embedded("file:///a", "a", "text/plain")),
        (File("a"), b"a\0", embedded("file:///a", b"a\0", "application/octet-stream")),
        (File("a.svg"), b"<svg/>", embedded("file:///a.svg", "<svg/>", "image/svg+xml")),
        (File(data=b"BM: 22"), b"BM: 22", embedded("file:///file", "BM: 22", "text/plain")),
        (File(data=b"ID3 of"), b"ID3 of", embedded("file:///file", "ID3 of", "text/plain")),
    ],
    ids=repr,
)
def test_the_media_type_follows_from_the_name_or_the_first_bytes(media: Any, data: bytes, block: Any) -> None:
    assert media.block(data) == block


def test_content_of_another_type_is_refused() -> None:
    with pytest.raises(ContentError, match=r"Image: neither the name nor the bytes are of type image/\*"):
        Image("a.txt").block(b"")
    with pytest.raises(ValueError, match="requires path or data, not both"):
        Image("a.png", data=b"")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "a.png").write_bytes(PNG)
    (tmp_path / "large.png").write_bytes(b"x" * 760)
    (tmp_path / "a.txt").write_bytes(b"text")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.png")
    return tmp_path


def media_kit(files: Path) -> Toolkit:
    kit = Toolkit("media", prefix=False)
    image = ImageContent(PNG, "image/png")

    @kit.tool(max_result=1000)
    async def give(name: str) -> list[str | Image]:
        """Give an image."""
        return ["An image:", Image(files / name), Image(data=PNG)]

    @kit.tool
    def result() -> ToolResult:
        """Give an image in a result."""
        return ToolResult(content=(Image(files / "a.png"), image))  # type: ignore[arg-type]

    @kit.tool
    def members() -> dict[str, Any]:
        """Give an image among data."""
        return {"a": 1, "image": Image(files / "a.png")}

    @kit.prompt
    def ask() -> PromptResult:
        """Ask about an image."""
        return PromptResult((PromptMessage(Image(files / "a.png"), "assistant"),))  # type: ignore[arg-type]

    @kit.resource("x://file")
    def file() -> File:
        """Give a file."""
        return File(files / "a.txt")

    return kit


async def test_a_file_may_be_read_before_the_call_waits(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def step(self: Threads, function: Callable[[], Any], name: str = "") -> Any:
        return function()  # as if the thread had ended already

    monkeypatch.setattr(Threads, "step", step)
    async with make_host(media_kit(files)) as host:
        assert isinstance(await call(host, "give", {"name": "a.png"}), ToolResult)


async def test_files_of_results_are_read(files: Path) -> None:
    image = ImageContent(PNG, "image/png")
    async with make_host(media_kit(files)) as host:

        async def got(method: str, **params: Any) -> Any:
            return await host.dispatch(Call(method, params))

        image_result = await got("tools/call", name="give", arguments={"name": "a.png"})
        assert image_result.content[1:] == (image, image)
        assert (await got("tools/call", name="result")).content == (image, image)
        members = await got("tools/call", name="members")
        assert (members.value, members.content[1:]) == ({"a": 1}, (image,))
        assert (await got("prompts/get", name="ask")).messages == (PromptMessage(image, "assistant"),)
        contents = (await got("resources/read", uri="x://file")).contents
        assert contents == (ResourceContents("x://file", "text", "text/plain"),)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("large.png", "The result is too large: it has more than 1,000 bytes."),
        ("missing.png", "The tool returned a file that cannot be sent."),
        ("pipe.png", "The tool returned a file that cannot be sent."),
        ("a.txt", "The tool returned a file that cannot be sent."),
        (".", "The tool returned a file that cannot be sent."),
    ],
)
async def test_a_file_that_cannot_be_sent_is_an_error_without_its_path(files: Path, name: str, message: str) -> None:
    async with make_host(media_kit(files)) as host:
        assert (await failure(host, "give", {"name": name})).error.message == message


async def give_later() -> Image:
    return Image("slow.png")


@pytest.mark.parametrize("function", [lambda: Image("slow.png"), give_later], ids=["sync", "async"])
async def test_the_time_limit_includes_reading_files(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    may_end = threading.Event()
    monkeypatch.setattr(Image, "load", lambda self, limit: may_end.wait(WAIT) and PNG)
    async with make_host(kit_of(function, name="give", timeout=0.01)) as host:
        assert "took longer than 0.01 seconds" in str((await failure(host, "give")).error)
        may_end.set()


@pytest.mark.parametrize("value", [{"a": {"b": Image(data=PNG)}}, [[Image(data=PNG)]], [[Image(data=PNG)], "x"]])
async def test_a_file_in_another_value_is_explained_in_the_log(value: Any, caplog: pytest.LogCaptureFixture) -> None:
    async with make_host(kit_of(lambda: value, name="give")) as host:
        await failure(host, "give")
    assert "Return the file as an item of a list or a member of a dict" in caplog.text
