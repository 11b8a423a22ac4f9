"""MCP Apps: `ui=` of tools and resources, their `_meta`, and refused values."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Host, ResourceContents, ResourceResult, ResourceUi, Toolkit, ToolUi
from pegboard.types import Call, Failure, Outcome
from pegboard_plugins.protocols.apps import UI_EXTENSION, UI_MIME_TYPE, AppsPlugin
from tests.host.hosting import make_host

VIEW = "ui://kit/view"
BOTH = {"ui": {"resourceUri": VIEW, "visibility": ["model", "app"]}}


def kit_with(tool: Any = None, view: Any = None, *, uri: str = VIEW, mime: str | None = None) -> Toolkit:
    kit = Toolkit("kit", prefix=False)
    kit.resource(uri, ui=view, mime_type=mime)(page)
    kit.resource("docs://readme", mime_type="text/markdown")(lambda: "# x")
    kit.tool(ui=tool)(show)
    return kit


def page() -> str:
    """A page."""
    return "<!doctype html>"


def show() -> str:
    """Show it."""
    return "shown"


def loaded(*kits: Toolkit, enabled: bool = True) -> Host:
    host = make_host(*kits, plugins={"interfaces": AppsPlugin} if enabled else {})
    host.load()
    return host


def tool_meta(host: Host) -> Any:
    return host.assembly.tools["show"].tool.meta


async def read(host: Host, uri: str = VIEW) -> Outcome:
    return await host.dispatch(Call("resources/read", {"uri": uri}))


@pytest.mark.requirement("EXT-12", "EXT-13")
@pytest.mark.parametrize(
    ("ui", "meta"),
    [
        (VIEW, BOTH),
        (ToolUi(VIEW, ["app"]), {"ui": {"resourceUri": VIEW, "visibility": ["app"]}}),
        (ToolUi(visibility=("app",)), {"ui": {"visibility": ["app"]}}),
        (None, None),
    ],
)
def test_the_meta_of_a_tool(ui: Any, meta: Any) -> None:
    host = loaded(kit_with(ui))
    assert (tool_meta(host), list(host.problems)) == (meta, [])


def test_the_meta_of_an_interface() -> None:
    view = ResourceUi(
        connect_domains=["https://api.example.com", "wss://live.example.com:8443"],
        resource_domains=["https://*.example.com"],
        frame_domains=["https://www.example.org"],
        base_uri_domains=["https://cdn.example.com"],
        permissions=["camera", "clipboardWrite"],
        domain="a904794854a047f6.example.com",
        prefers_border=False,
    )
    host = loaded(kit_with(VIEW, view))
    assert host.assembly.resources[VIEW].item.meta == {
        "ui": {
            "csp": {
                "connectDomains": ["https://api.example.com", "wss://live.example.com:8443"],
                "resourceDomains": ["https://*.example.com"],
                "frameDomains": ["https://www.example.org"],
                "baseUriDomains": ["https://cdn.example.com"],
            },
            "permissions": {"camera": {}, "clipboardWrite": {}},
            "domain": "a904794854a047f6.example.com",
            "prefersBorder": False,
        }
    }


@pytest.mark.requirement("EXT-13")
@pytest.mark.parametrize(
    ("ui", "reason"),
    [
        ("ui://kit/nowhere", "interface 'ui://kit/nowhere' does not exist: register a ui:// resource with this URI"),
        ("docs://readme", "register a ui:// resource with this URI"),
        (ToolUi(VIEW, []), "invalid `ui` visibility []: choose from model, app"),
        ({"resourceUri": VIEW}, "use a URI or a ToolUi"),
    ],
)
def test_a_tool_with_an_invalid_interface_is_not_served(ui: Any, reason: str) -> None:
    host = loaded(kit_with(ui))
    (problem,) = host.problems
    assert problem.message.startswith("tool 'show'")
    assert reason in problem.message
    assert "show" not in host.assembly.tools


@pytest.mark.requirement("EXT-12")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"mime": "text/html"}, "invalid MIME type 'text/html'"),
        ({"mime": "text/html; profile=mcp-app"}, "for an interface: use 'text/html;profile=mcp-app'"),
        ({"view": ResourceUi(connect_domains=["example.com"])}, "invalid origin 'example.com' in `ui` connect_domains"),
        ({"view": ResourceUi(resource_domains=["https://x; script-src *"])}, "invalid origin"),
        ({"view": ResourceUi(base_uri_domains=["*"])}, "invalid origin"),
        ({"view": ResourceUi(frame_domains="https://example.com")}, "must be a list of strings"),
        ({"view": ResourceUi(permissions=["usb"])}, "unknown `ui` permission 'usb'"),  # type: ignore[list-item]
        ({"view": ResourceUi(prefers_border="yes")}, "must be bool"),  # type: ignore[arg-type]
        ({"view": {"csp": {}}}, "use a ResourceUi"),
        ({"view": ResourceUi(), "uri": "docs://x", "mime": UI_MIME_TYPE}, "ui= is for resources at ui:// only"),
    ],
)
def test_an_invalid_interface_is_not_served(changes: dict[str, Any], reason: str) -> None:
    host = loaded(kit_with(None, **changes))
    (problem,) = host.problems
    assert problem.message.startswith("resource '")
    assert reason in problem.message
    assert list(host.assembly.resources) == ["docs://readme"]


@pytest.mark.requirement("EXT-02", "EXT-14")
async def test_the_extension_is_enabled_while_a_tool_or_resource_uses_it() -> None:
    other = Toolkit("another")
    other.tool(ui=VIEW, name="borrow", description="Use the interface of another toolkit.")(lambda: "")
    host = loaded(other, kit_with())
    assert (host.assembly.tools["another_borrow"].tool.meta, list(host.problems)) == (BOTH, [])
    resource = host.assembly.resources[VIEW].item
    assert (resource.mime_type, resource.meta) == (UI_MIME_TYPE, None)
    assert list(host.for_protocols.contributed.extensions) == [UI_EXTENSION]
    disabled = loaded(kit_with("ui://kit/nowhere"), enabled=False)
    assert (tool_meta(disabled), list(disabled.problems)) == (None, [])
    async with make_host(plugins={"interfaces": AppsPlugin}) as host:
        assert host.for_protocols.contributed.extensions == {}
        kit = kit_with(VIEW)
        host.catalogue.add(*kit.register_resources(), *kit.register_tools())
        assert (tool_meta(host), list(host.for_protocols.contributed.extensions)) == (BOTH, [UI_EXTENSION])


async def test_reading_an_interface_returns_its_meta() -> None:
    async with make_host(kit_with(VIEW, ResourceUi(prefers_border=True)), plugins={"interfaces": AppsPlugin}) as host:
        results = [await read(host, uri) for uri in (VIEW, "docs://readme")]
        assert isinstance(await read(host, "ui://kit/nowhere"), Failure)
    meta = {"ui": {"prefersBorder": True}}
    assert results == [
        ResourceResult((ResourceContents(VIEW, "<!doctype html>", UI_MIME_TYPE, meta),)),
        ResourceResult((ResourceContents("docs://readme", "# x", "text/markdown"),)),
    ]


@pytest.mark.requirement("EXT-12")
async def test_contents_of_another_type_are_an_error(caplog: pytest.LogCaptureFixture) -> None:
    kit = Toolkit("kit")

    @kit.resource(VIEW)
    def page() -> ResourceResult:
        return ResourceResult((ResourceContents(VIEW, "<p>", "text/html"),))

    async with make_host(kit, plugins={"interfaces": AppsPlugin}) as host:
        assert isinstance(await read(host), Failure)
    assert "invalid MIME type 'text/html' of" in caplog.text


@pytest.mark.requirement("EXT-12")
async def test_reading_an_interface_of_a_template_returns_its_meta() -> None:
    kit = Toolkit("kit")

    @kit.resource("ui://kit/{name}", ui=ResourceUi(prefers_border=True))
    def page_of(name: str) -> str:
        return f"<p>{name}"

    async with make_host(kit, plugins={"interfaces": AppsPlugin}) as host:
        outcome = await read(host)
    assert outcome == ResourceResult(
        (ResourceContents(VIEW, "<p>view", UI_MIME_TYPE, {"ui": {"prefersBorder": True}}),)
    )
