"""MCP Apps: `ui=` of tools and resources, their `_meta`, and refused values."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Host, ResourceContents, ResourceResult, ResourceUi, Toolkit, ToolUi
from pegboard.types import Call, Failure
from pegboard_plugins.apps import UI_EXTENSION, UI_MIME_TYPE, AppsPlugin
from tests.host.hosting import make_host

VIEW = "ui://kit/view"


def kit_with(tool: Any = None, view: ResourceUi | None = None, *, uri: str = VIEW, mime: str | None = None) -> Toolkit:
    kit = Toolkit("kit", prefix=False)

    @kit.resource(uri, ui=view, mime_type=mime)
    def page() -> str:
        """A page."""
        return "<!doctype html>"

    @kit.tool(ui=tool)
    def show() -> str:
        """Show it."""
        return "shown"

    return kit


def looked_at(*kits: Toolkit, on: bool = True) -> Host:
    host = make_host(*kits, plugins={"interfaces": AppsPlugin} if on else {})
    host.load()
    return host


def tool_meta(host: Host) -> Any:
    return host.assembly.tools["show"].tool.meta


def told(host: Host) -> list[str]:
    return [problem.message for problem in host.problems]


@pytest.mark.requirement("EXT-12", "EXT-13")
@pytest.mark.parametrize(
    ("said", "meta"),
    [
        (VIEW, {"ui": {"resourceUri": VIEW, "visibility": ["model", "app"]}}),
        (ToolUi(VIEW), {"ui": {"resourceUri": VIEW, "visibility": ["model", "app"]}}),
        (ToolUi(VIEW, ["app"]), {"ui": {"resourceUri": VIEW, "visibility": ["app"]}}),
        (ToolUi(visibility=("app",)), {"ui": {"visibility": ["app"]}}),
        (None, None),
    ],
)
def test_the_meta_of_a_tool(said: Any, meta: Any) -> None:
    host = looked_at(kit_with(said))
    assert tool_meta(host) == meta
    assert told(host) == []


def test_the_meta_of_an_interface() -> None:
    view = ResourceUi(
        connect_domains=["https://api.example.com", "wss://live.example.com:8443"],
        resource_domains=["https://*.example.com"],
        frame_domains=["https://www.example.org"],
        base_uri_domains=["https://cdn.example.com"],
        permissions=["camera", "microphone", "geolocation", "clipboardWrite"],
        domain="a904794854a047f6.example.com",
        prefers_border=False,
    )
    host = looked_at(kit_with(VIEW, view))
    assert host.assembly.resources[VIEW][0].meta == {
        "ui": {
            "csp": {
                "connectDomains": ["https://api.example.com", "wss://live.example.com:8443"],
                "resourceDomains": ["https://*.example.com"],
                "frameDomains": ["https://www.example.org"],
                "baseUriDomains": ["https://cdn.example.com"],
            },
            "permissions": {"camera": {}, "microphone": {}, "geolocation": {}, "clipboardWrite": {}},
            "domain": "a904794854a047f6.example.com",
            "prefersBorder": False,
        }
    }


@pytest.mark.requirement("EXT-13")
@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("ui://kit/nowhere", "its ui 'ui://kit/nowhere' does not exist: register a ui:// resource with this URI"),
        ("docs://readme", "register a ui:// resource with this URI"),
        (ToolUi(VIEW, []), "invalid visibility [] of its ui: choose from model, app"),
        (ToolUi(VIEW, ["user"]), "invalid visibility ['user'] of its ui"),  # type: ignore[list-item]
        ({"resourceUri": VIEW}, "use a URI or a ToolUi"),
    ],
)
def test_a_tool_with_an_invalid_interface_is_not_served(said: Any, why: str) -> None:
    kit = kit_with(said)

    @kit.resource("docs://readme")
    def readme() -> str:
        return ""

    host = looked_at(kit)
    (problem,) = told(host)
    assert why in problem
    assert problem.startswith("tool 'show'")
    assert "show" not in host.assembly.tools


@pytest.mark.requirement("EXT-12")
@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"mime": "text/html"}, "invalid MIME type 'text/html'"),
        ({"mime": "text/html; profile=mcp-app"}, "interfaces need 'text/html;profile=mcp-app'"),
        ({"mime": "text/html+mcp"}, "invalid MIME type"),
        (
            {"view": ResourceUi(connect_domains=["example.com"])},
            "invalid origin 'example.com' in connect_domains of its ui",
        ),
        ({"view": ResourceUi(resource_domains=["https://x/path"])}, "invalid origin"),
        ({"view": ResourceUi(resource_domains=["https://x; script-src *"])}, "invalid origin"),
        ({"view": ResourceUi(frame_domains="https://example.com")}, "must be a list of strings"),
        ({"view": ResourceUi(base_uri_domains=["*"])}, "invalid origin"),
        ({"view": ResourceUi(permissions=["usb"])}, "unknown permission 'usb'"),  # type: ignore[list-item]
        ({"view": ResourceUi(domain=3)}, "must be str"),  # type: ignore[arg-type]
        ({"view": ResourceUi(prefers_border="yes")}, "must be bool"),  # type: ignore[arg-type]
        ({"view": {"csp": {}}}, "use a ResourceUi"),
        ({"view": ResourceUi(), "uri": "docs://x", "mime": UI_MIME_TYPE}, "ui= is for resources at ui:// only"),
    ],
)
def test_an_invalid_interface_is_not_served(changes: dict[str, Any], why: str) -> None:
    host = looked_at(kit_with(None, **changes))
    (problem,) = told(host)
    assert why in problem
    assert problem.startswith("resource '")
    assert not host.assembly.resources


@pytest.mark.requirement("EXT-02", "EXT-14")
def test_the_extension_is_on_while_a_tool_or_resource_uses_it() -> None:
    other, plain = Toolkit("another"), Toolkit("plain")
    other.tool(ui=VIEW, name="borrow", description="Use the interface of another toolkit.")(lambda: "")
    plain.tool(name="plain", description="Use none.")(lambda: "")
    host = looked_at(other, kit_with())
    assert told(host) == []
    meta = {"ui": {"resourceUri": VIEW, "visibility": ["model", "app"]}}
    assert host.assembly.tools["another_borrow"].tool.meta == meta
    resource = host.assembly.resources[VIEW][0]
    assert (resource.mime_type, resource.meta) == (UI_MIME_TYPE, None)
    assert list(host.contributed.extensions) == [UI_EXTENSION]
    assert looked_at(plain).contributed.extensions == {}
    without = looked_at(kit_with("ui://kit/nowhere"), on=False)
    assert (tool_meta(without), told(without)) == (None, [])


async def read(kit: Toolkit, uri: str = VIEW) -> Any:
    async with make_host(kit, plugins={"interfaces": AppsPlugin}) as host:
        return await host.dispatch(Call("resources/read", {"uri": uri}))


async def test_reading_an_interface_returns_its_meta() -> None:
    kit = kit_with(VIEW, ResourceUi(prefers_border=True))

    @kit.resource("docs://readme", mime_type="text/markdown")
    def readme() -> str:
        return "# x"

    meta = {"ui": {"prefersBorder": True}}
    assert (await read(kit)).contents == (ResourceContents(VIEW, "<!doctype html>", UI_MIME_TYPE, meta),)
    assert (await read(kit, "docs://readme")).contents == (ResourceContents("docs://readme", "# x", "text/markdown"),)
    assert isinstance(await read(kit, "ui://kit/nowhere"), Failure)


@pytest.mark.requirement("EXT-12")
async def test_contents_of_another_type_are_an_error(caplog: pytest.LogCaptureFixture) -> None:
    kit = Toolkit("kit")

    @kit.resource(VIEW)
    def page() -> ResourceResult:
        return ResourceResult((ResourceContents(VIEW, "<p>", "text/html"),))

    assert isinstance(await read(kit), Failure)
    assert "has the MIME type 'text/html'" in caplog.text


async def test_interfaces_that_are_added_later() -> None:
    async with make_host(plugins={"interfaces": AppsPlugin}) as host:
        assert host.contributed.extensions == {}
        kit = kit_with(VIEW, ResourceUi(prefers_border=True))
        host.catalogue.add(*kit.register_resources(), *kit.register_tools())
        assert tool_meta(host)["ui"]["resourceUri"] == VIEW
        assert list(host.contributed.extensions) == [UI_EXTENSION]
        outcome = await host.dispatch(Call("resources/read", {"uri": VIEW}))
        assert isinstance(outcome, ResourceResult)
        assert outcome.contents[0].meta == {"ui": {"prefersBorder": True}}
