"""Environment variables of arcade-mcp: each sets a key or causes a warning. Misspelled names are reported."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pegboard.cli.command_config import ignored_variables
from pegboard.config import HostConfig, HostSection
from pegboard.config.environment import EnvironmentNames
from pegboard.config.problems import step, undotted
from pegboard.loading.discovery import defaults, find_plugins
from tests.support.config import load

NAMES = defaults()["environment"]
LEAK = "yes-i-accept-leaking-internals-to-the-agent"
DEBUG = "ARCADE_DEBUG_EXPOSE_{}_IN_TOOL_ERROR_RESPONSES"
SERVER = "plugins.resource_server"

SET: list[tuple[str, str, str, Any]] = [
    ("MCP_SERVER_NAME", "shed", "host.name", "shed"),
    ("MCP_SERVER_VERSION", "1.2", "host.version", "1.2"),
    ("MCP_SERVER_TITLE", "Shed", "host.title", "Shed"),
    ("MCP_SERVER_INSTRUCTIONS", "Ask.", "host.instructions", "Ask."),
    ("MCP_MIDDLEWARE_MASK_ERROR_DETAILS", "false", "plugins.debug_errors.mask_details", False),
    ("MCP_MIDDLEWARE_ENABLE_LOGGING", "false", "plugins.logging.requests", False),
    ("MCP_TRANSPORT_SESSION_TIMEOUT_SECONDS", "60", "plugins.mcp.session_idle_seconds", "60"),
    ("MCP_TRANSPORT_MAX_SESSIONS", "9", "plugins.mcp.max_sessions", "9"),
    ("MCP_TRANSPORT_ALLOWED_ORIGINS", "https://a.example", "plugins.http.cors_origins", "https://a.example"),
    ("MCP_NOTIFICATION_DEFAULT_DEBOUNCE_MS", "100", "plugins.mcp.change_delay_ms", "100"),
    ("MCP_NOTIFICATION_RATE_LIMIT_PER_MINUTE", "60", "plugins.mcp.changes_per_minute", "60"),
    ("MCP_RESOURCE_SERVER_CANONICAL_URL", "https://a.example/mcp", f"{SERVER}.resource", "https://a.example/mcp"),
    ("MCP_RESOURCE_SERVER_AUTHORIZATION_SERVERS", "[]", f"{SERVER}.authorization_servers", "[]"),
    ("MCP_RESOURCE_SERVER_SCOPES_SUPPORTED", "a b", f"{SERVER}.scopes_supported", "a b"),
    ("MCP_RESOURCE_SERVER_DEFAULT_CHALLENGE_SCOPES", "a b", f"{SERVER}.challenge_scopes", "a b"),
    ("ARCADE_WORKER_SECRET", "s", "plugins.worker.secret", {"env": "ARCADE_WORKER_SECRET"}),
    ("ARCADE_AUTH_DISABLED", "true", "plugins.worker.auth_disabled", True),
    ("ARCADE_MCP_OTEL_ENABLE", "true", "plugins.opentelemetry.enabled", True),
    ("ARCADE_USER_ID", "me", "host.user", "me"),
    ("ARCADE_SERVER_HOST", "localhost", "plugins.http.host", "localhost"),
    ("ARCADE_SERVER_PORT", "9000", "plugins.http.port", "9000"),
    ("ARCADE_SERVER_RELOAD", "true", "host.reload", True),
    ("ARCADE_SERVER_TRANSPORT", "stdio", "host.transports", ["stdio"]),
    ("ARCADE_DISABLED_TOOLS", "A.b, c", "host.disabled_tools", ["A.b", "c"]),
    ("ARCADE_DISABLED_TOOLKITS", "a", "host.disabled_toolkits", ["a"]),
    (DEBUG.format("DEVELOPER_MESSAGE"), LEAK, "plugins.debug_errors.developer_message", LEAK),
    (DEBUG.format("STACKTRACE"), LEAK, "plugins.debug_errors.stacktrace", LEAK),
]
RENAMED = {
    "ARCADE_MCP_TOOL_PACKAGE": "[plugins.tool_packages] names",
    "MCP_DEBUG": "[host] log_level",
    "MCP_MIDDLEWARE_LOG_LEVEL": "[host] log_level",
    "ARCADE_UVICORN_TIMEOUT_GRACEFUL_SHUTDOWN": "[host] grace_seconds",
    "ARCADE_MCP_DEBUG": "[host] log_level",
    "ARCADE_MCP_DISCOVER_INSTALLED": "[host] autoload",
    "ARCADE_MCP_SERVER_NAME": "[host] name",
    "ARCADE_MCP_SERVER_VERSION": "[host] version",
    "ARCADE_MCP_SERVER_TITLE": "[host] title",
    "ARCADE_MCP_SERVER_INSTRUCTIONS": "[host] instructions",
}
UNUSED = [
    *("MCP_MIDDLEWARE_ENABLE_ERROR_HANDLING", "MCP_TRANSPORT_CLEANUP_INTERVAL_SECONDS", "MCP_TRANSPORT_MAX_QUEUE_SIZE"),
    "MCP_NOTIFICATION_MAX_QUEUED_NOTIFICATIONS",
    *("ARCADE_CONTEXT", "ARCADE_URL", "ARCADE_DISABLE_AUTOUPDATE", "ARCADE_USAGE_TRACKING", "ARCADE_ENVIRONMENT"),
    *("ARCADE_MCP_CHILD_PROCESS", "ARCADE_MCP_SHOW_PACKAGES"),
    *("ARCADE_TOOL_NAME_SEPARATOR", "ARCADE_WORK_DIR"),
]
OF_PLUGINS = ["ARCADE_API_KEY", "ARCADE_API_URL", "ARCADE_API_BASE_URL"]


def warnings(**environ: str) -> list[str]:
    return list(map(str, ignored_variables(environ, NAMES)))


@pytest.mark.needs("worker", "opentelemetry")
@pytest.mark.parametrize(("name", "text", "key", "value"), SET)
def test_a_variable_sets_its_key(tmp_path: Path, name: str, text: str, key: str, value: object) -> None:
    config = load(tmp_path, environ={name: text}, collect=True)
    node: Any = config.sources.tree
    for part in undotted(key):
        node = step(node, part)
    assert node == value
    assert str(config.source(key)) in (f"environment variable {name}", "default")  # a table has no source of its own
    assert warnings(**{name: text}) == []


@pytest.mark.needs("worker", "opentelemetry")
@pytest.mark.parametrize("name", [*RENAMED, *UNUSED])
def test_a_variable_without_effect_causes_a_warning(tmp_path: Path, name: str) -> None:
    assert HostConfig.load(environ={name: "1"}, directory=tmp_path).sources.tree == {}
    (warning,) = warnings(**{name: "1"})
    expected = f"{name} is `{RENAMED[name]}" if name in RENAMED else f"{name} has no effect here: "
    assert warning.startswith(expected)
    assert warnings(**{name: " "}) == []


@pytest.mark.parametrize("name", OF_PLUGINS)
def test_a_variable_of_a_disabled_plugin_causes_a_warning(name: str) -> None:
    (warning,) = warnings(**{name: "1"})
    assert warning == f"{name} has no effect here: only [plugins.arcade_cloud] uses it, which is disabled"
    assert list(ignored_variables({name: "1"}, NAMES, ["arcade_cloud"])) == []


@pytest.mark.needs("worker", "opentelemetry")
def test_the_rows_are_those_of_the_defaults_and_name_existing_keys() -> None:
    listed = {name for kind in (*EnvironmentNames._fields, "renamed", "unused", "of_plugins") for name in NAMES[kind]}
    assert listed == {*(row[0] for row in SET), *RENAMED, *UNUSED, *OF_PLUGINS}
    models: dict[str, Any] = {
        f"plugins.{origin.name}": getattr(origin.load(), "Config", None)
        for origin in find_plugins().origins
        if origin.entry_point
    }
    models["host"] = HostSection
    for setting in NAMES["renamed"].values():
        table, key = re.match(r"\[(.+)\] (\w+)", setting).groups()  # type: ignore[union-attr]  # it matches
        assert key in models[table].model_fields


@pytest.mark.needs("worker")
@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("MCP_SERVER_NAM", "MCP_SERVER_NAME"),
        ("mcp_server_name", "MCP_SERVER_NAME"),
        ("MPC_SERVER_TITLE", "MCP_SERVER_TITLE"),
        ("ARCADE_SERVER_PROT", "ARCADE_SERVER_PORT"),
        ("ARCADE_WORKERS_SECRET", "ARCADE_WORKER_SECRET"),
        ("PEGBOARD_HOST_NAME", "PEGBOARD__HOST__NAME"),
        ("PEGBORD__HOST__PAGE_SIZE", "PEGBOARD__HOST__PAGE_SIZE"),
        ("PEG_BOARD_PLUGINS__HTTP__PORT", "PEGBOARD__PLUGINS__HTTP__PORT"),
        ("PEGBOARD_PLUGINS_HTTP_PORT", "PEGBOARD__PLUGINS__NAME__KEY"),
        ("PEGBOARD_CONFG", "PEGBOARD_CONFIG"),
    ],
)
def test_a_misspelled_name_is_reported(name: str, meant: str) -> None:
    assert warnings(**{name: "x"}) == [f'the environment variable {name} has no effect; did you mean "{meant}"?']


def test_names_of_other_programs_are_not_reported() -> None:
    foreign = ("MCP_TIMEOUT", "MCP_TOOL_TIMEOUT", "MCP_SERVER_PORT", "MAX_MCP_OUTPUT_TOKENS", "ARCADE_GAME", "MCP_HOST")
    own = ("PEGBOARD_CONFIG", "PEGBOARD_STATE_DIR", "PEGBOARD__HOST__NAME", "PEGBOARD_ADMIN_TOKEN", "PATH")
    assert warnings(**dict.fromkeys((*foreign, *own), "x")) == []
