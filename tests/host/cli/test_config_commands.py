"""`pegboard config check` and `config show`."""

from __future__ import annotations

from typing import Any

import pytest
import tomli
from jsonschema import Draft202012Validator

from tests.support.command_line import INSTALLED, Command
from tools.install import ROOT

CANARY = "canary-7f3a91"
LIVING = """
from pegboard import Toolkit
kit = Toolkit('living')
@kit.lifespan
async def live(config):
    open('started', 'w').close()
    yield
"""


def test_check_names_the_file_and_the_plugins_and_starts_none(pegboard: Command) -> None:
    pegboard.install("living", LIVING)
    done = pegboard("config", "check")
    (line,) = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert line.startswith(f"ok: {pegboard.folder / 'hostconfig.toml'}; plugins: ")
    assert "toolkits: demo, living; " in line
    assert not (pegboard.folder / "started").exists()
    report = pegboard("config", "check", "--json").data
    assert (report["ok"], report["problems"], report["toolkits"]) == (True, [], ["demo", "living"])
    (pegboard.folder / "hostconfig.toml").unlink()
    assert pegboard("config", "check").out.startswith("ok: no file, the defaults apply; ")


def test_all_problems_are_told_at_once(pegboard: Command) -> None:
    pegboard.configure(
        'nmae = "x"\nmiddleware = ["lgoging"]\nrequired = ["dmeo"]\ndisabled_tools = ["other_ecko"]',
        f'[toolkits.demo]\nword = 5\napi_key = ["{CANARY}"]\n[plugins.mpc]',
    )
    done = pegboard("config", "check", env={"PEGBOARD__HOST__TOOL_NAMES": "camel"})
    assert (done.code, done.out) == (3, "")
    for text in (
        'hostconfig.toml:3: host.nmae: unknown key; did you mean "name"?',
        'did you mean "logging"?',
        'did you mean "demo"?',
        "other_ecko",
        "hostconfig.toml:8: toolkits.demo.word: expected a string",
        'plugins.mpc: no plugin with this name is installed; did you mean "mcp"?',
        "PEGBOARD__HOST__TOOL_NAMES",
    ):
        assert text in done.err, text
    assert all(line.startswith("pegboard: ") for line in done.err.splitlines())
    assert CANARY not in done.err
    as_json = pegboard("config", "check", "--json")
    assert (as_json.code, as_json.err, as_json.data["ok"]) == (3, "", False)
    assert any(problem["fatal"] and "host.nmae" in problem["message"] for problem in as_json.data["problems"])


@pytest.mark.needs("tool_commands")
def test_variables_without_effect_are_warnings(pegboard: Command) -> None:
    env = {"MCP_SERVER_NAM": "x", "MCP_DEBUG": "1", "MCP_TIMEOUT": "1"}
    done = pegboard("config", "check", env=env)
    assert done.code == 0
    assert done.err.splitlines() == [
        'pegboard: warning: MCP_DEBUG is `[host] log_level = "debug"` here',
        'pegboard: warning: the environment variable MCP_SERVER_NAM has no effect; did you mean "MCP_SERVER_NAME"?',
    ]
    problems = pegboard("config", "check", "--json", env=env).data["problems"]
    assert [problem["fatal"] for problem in problems] == [False, False]
    assert "MCP_" not in pegboard("list", env=env).err


WORKERS = "[plugins.http]\nport = 0\nworkers = 2\n"
OPEN = "[plugins.http]\nport = 0\nhost = '0.0.0.0'\n"


@pytest.mark.parametrize(
    ("host", "sections", "message"),
    [
        ("transports = []", "", "[host] transports is empty"),
        ("transports = ['pigeon']", "", "no enabled plugin provides 'pigeon'; write one of http, stdio"),
        ("transports = ['stdo']", "", "no enabled plugin provides 'stdo'; did you mean \"stdio\"?"),
        ("", "[plugins.http]\nport = 0\ncertificate = 'no.pem'", "no.pem cannot be used: No such file or directory"),
        ("", "[plugins.http]\nport = 0\nhost = '192.0.2.1'", "cannot listen at 192.0.2.1:0"),
        ("", "[plugins.http]\nsocket = 'none/x.sock'", "cannot listen at none/x.sock"),
        ("", OPEN, "no authenticator is configured for /mcp"),
        pytest.param(
            "",
            OPEN + "[plugins.auth_token]\ntoken = 'weak'",
            "tokens of [plugins.auth_token] are weak",
            marks=pytest.mark.needs("auth"),
        ),
        pytest.param(
            "", "[plugins.http]\nport = 0\n[plugins.auth_token]\ntoken = 'weak'", None, marks=pytest.mark.needs("auth")
        ),
        ("", WORKERS, "sessions are in the memory of one process, but there are 2 workers"),
        ("", f"{WORKERS}[plugins.mcp]\nsessions = 'sealed'", "2 workers need common keys"),
        ("transports = ['http', 'stdio']", WORKERS, "[plugins.http] workers = 2: stdio serves one client"),
        pytest.param(
            "",
            "[plugins.audit]\nfile = 'none/audit.jsonl'",
            "the audit file or its key cannot be used",
            marks=pytest.mark.needs("audit"),
        ),
        ("", "[plugins.logging]\nfile = 'none/x.log'", "none/x.log cannot be written: No such file or directory"),
    ],
)
def test_ok_means_that_serve_would_open(host: str, sections: str, message: str | None, pegboard: Command) -> None:
    pegboard.configure(host, sections)
    done = pegboard("config", "check")
    if message is None:
        assert done.out.startswith("ok: ")
        return
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("pegboard: error: ")
    assert message in done.err
    served = pegboard.run(pegboard.arguments("serve")) if WORKERS in sections else pegboard("serve")
    assert served.code in (3, 5)
    assert message in served.err


def test_a_name_that_a_failed_plugin_may_provide_gets_no_other_advice(pegboard: Command) -> None:
    pegboard.configure("transports = ['pigeon']", "[plugins.http]\ntls = true")
    assert (
        "no enabled plugin provides 'pigeon'; a plugin that failed may provide it\n" in pegboard("config", "check").err
    )


@pytest.mark.needs("audit")
@pytest.mark.parametrize("command", [("config", "check"), pytest.param(("doctor",), marks=pytest.mark.needs("doctor"))])
def test_reasons_of_several_plugins_are_told_at_once_and_nothing_is_made(
    command: tuple[str, ...], pegboard: Command
) -> None:
    audit = pegboard.folder / "audit.jsonl"
    pegboard.configure(sections=f"{WORKERS}[plugins.audit]\nfile = 'audit.jsonl'")
    done = pegboard(*command)
    assert (done.code, "audit file or" in done.out + done.err) == (3, False)
    assert set(pegboard.folder.rglob("audit*")) == set()
    audit.mkdir()
    done = pegboard(*command)
    assert done.code == 3
    for text in ("there are 2 workers", f"Is a directory: '{audit}'"):
        assert text in " ".join((done.out + done.err).split()), text


@pytest.mark.needs("audit")
def test_a_damaged_key_of_the_audit_file_is_told(pegboard: Command) -> None:
    (pegboard.folder / "audit.key").touch(0o600)
    pegboard.configure(sections="[plugins.http]\nport = 0\n[plugins.audit]\nfile = 'audit.jsonl'")
    done = pegboard("config", "check", env={"PEGBOARD_STATE_DIR": str(pegboard.folder)})
    assert (done.code, "audit.key in the state directory is damaged" in done.err) == (3, True)


@pytest.mark.needs("rate_limit", "auth", "worker", "opentelemetry", "lock")
def test_the_schema_has_the_sections_of_installed_plugins(pegboard: Command) -> None:
    pegboard.install("strange", "raise SystemExit('imported')", group="pegboard.plugins")
    schema = pegboard("config", "schema").data
    check = Draft202012Validator(schema)
    Draft202012Validator.check_schema(schema)
    assert schema["properties"]["plugins"]["properties"]["http"]["properties"]["port"]["description"].startswith(
        "the port"
    )
    for text in (
        (ROOT / "hostconfig.toml").read_text("utf-8"),
        "[plugins.strange]\nany = 1",
        "[plugins.worker]\nsecret = { env = 'X' }",
        "[plugins.resource_server]\nscopes_supported = ['a']",
        "[toolkits.demo]\nwrite = true",
    ):
        assert list(check.iter_errors(tomli.loads(text))) == []
    for text in ("[hots]", "[host]\nnmae = ''", "[plugins.http]\nport = 'x'", "[plugins.apps]\na = 1", "[toolkits.d]"):
        assert not check.is_valid(tomli.loads(text))


@pytest.mark.needs("tool_commands")
def test_each_setting_is_shown_with_its_source(pegboard: Command) -> None:
    pegboard.configure('name = "mine"\n', '[toolkits.demo]\nword = "moin"')
    done = pegboard("config", "show", env={"PEGBOARD__HOST__PAGE_SIZE": "7"})
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"# {pegboard.folder / 'hostconfig.toml'}\n")
    lines = [line.rsplit("  # ", 1) for line in done.out.splitlines() if "  # " in line]
    sources = {setting.lstrip("# ").split()[0]: source for setting, source in reversed(lines)}  # those of [host] win
    assert sources["page_size"] == "environment variable PEGBOARD__HOST__PAGE_SIZE"
    assert (sources["name"], sources["word"], sources["write"]) == ("hostconfig.toml:3", "hostconfig.toml:6", "default")
    report = pegboard("config", "show", "--json").data
    assert (report["file"], report["values"]["host"]["name"]) == (str(pegboard.folder / "hostconfig.toml"), "mine")
    assert report["values"]["toolkits"]["demo"] == {"word": "moin", "api_key": None, "write": False}
    sources = report["sources"]
    assert (sources["host.name"], sources["toolkits.demo.write"]) == ("hostconfig.toml:3", "default")
    assert pegboard("call", "demo_greet").out == "moin\n"


def test_the_output_is_toml_with_the_same_meaning(pegboard: Command) -> None:
    word = 'quote " back\\slash \u202e tab\t 日本 \U000e0041 é'
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    pegboard.configure('name = "a # b"\nmiddleware = ["logging"]', f'[toolkits.demo]\nword = "{escaped}"')
    first = pegboard("config", "show").out
    shown: dict[str, Any] = tomli.loads(first)
    assert (shown["host"]["name"], shown["host"]["disabled_toolkits"]) == ("a # b", INSTALLED)
    assert shown["toolkits"]["demo"] == {"word": word, "write": False}
    assert "\u202e" not in first
    pegboard.write(first, "again.toml")
    assert tomli.loads(pegboard("config", "show", "--config", "again.toml").out) == shown


def test_secrets_are_masked_and_references_are_shown(pegboard: Command) -> None:
    pegboard.configure(sections=f'[toolkits.demo]\napi_key = "{CANARY}"')
    for options in ((), ("--json",)):
        done = pegboard("config", "show", *options)
        assert (CANARY in done.out + done.err, "api_key" in done.out) == (False, True)
    pegboard.configure(sections='[toolkits.demo]\napi_key = { env = "DEMO_KEY" }')
    done = pegboard("config", "show", env={"DEMO_KEY": CANARY})
    assert (CANARY in done.out + done.err, 'api_key = { env = "DEMO_KEY" }' in done.out) == (False, True)


@pytest.mark.parametrize(("mode", "shown"), [("'0660'", "0o660"), ("0o640", "0o640"), ("'0o600'", "0o600")])
def test_file_modes_are_octal(mode: str, shown: str, pegboard: Command) -> None:
    pegboard.configure(sections=f"[plugins.http]\nsocket_mode = {mode}")
    assert f'socket_mode = "{shown}"' in pegboard("config", "show").out
    trusted = pegboard("config", "trust", "hostconfig.toml", "--json").data["widens"]
    assert [setting["value"] for setting in trusted if "socket" in setting["key"]] == (
        [] if shown == "0o600" else [shown]
    )
    pegboard.configure(sections="[plugins.http]\nsocket_mode = 660")
    assert 'socket_mode: expected a file mode in octal, such as "0o600"' in pegboard("config", "check").err
