"""`pegboard doctor`: each check finds its problem, and `--fix` corrects what is safe to correct."""

from __future__ import annotations

import os
import socket
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.support.command_line import Command, findings_of

SLOW = """
import time
from pegboard import Toolkit
started = time.monotonic()
while time.monotonic() - started < 0.6: pass
kit = Toolkit("slow")
"""
TOOLS = '''
from typing import Any
from pegboard import Toolkit
kit = Toolkit("odd")

@kit.tool(input_schema={"type": "object", "properties": {"a": {"type": "array"}}, "anyOf": [{"required": ["a"]}]})
def either(**values: Any) -> str:
    """Take either."""
    return ""

@kit.tool(name="x" * 53)
def long() -> str:
    """Have a long name."""
    return ""
'''


NO_RESOURCE = """
[plugins.login]
everyone = true
provider = { issuer = "https://a.example", client_id = "x", client_secret = "0123456789abcdef0123456789abcdef" }
"""


def certificate(file: Path, days: int) -> None:
    """Write a self-signed certificate with its key, which expires after some days."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - timedelta(days=99)).not_valid_after(now + timedelta(days=days))
    form = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    pem = serialization.Encoding.PEM
    file.write_bytes(made.sign(key, hashes.SHA256()).public_bytes(pem) + key.private_bytes(pem, *form))


@pytest.mark.needs("auth")
@pytest.mark.parametrize(
    ("check", "host", "sections", "env", "level", "message"),
    [
        ("configuration", "nmae = 1", "", {}, "error", "host.nmae"),
        ("environment", "", "", {"MCP_SERVER_NAM": "x"}, "warning", "MCP_SERVER_NAME"),
        ("configuration", "", "[toolkits.demo]\nword = 1", {}, "error", "toolkits.demo.word"),
        ("configuration", "", NO_RESOURCE, {}, "error", "plugins.login.resource: is required and missing"),
        ("secrets", "", "", {"DEMO_KEY": None}, "warning", "DEMO_KEY"),
        ("transports", "transports = []", "", {}, "error", "transports is empty"),
        ("stores", "", "[plugins.http]\nworkers = 2", {}, "error", "there are 2 workers"),
        pytest.param(
            "audit file",
            "",
            "[plugins.audit]\nfile = 'none/x'",
            {},
            "error",
            "the audit file or its key cannot be used",
            marks=pytest.mark.needs("audit"),
        ),
        ("log file", "", "[plugins.logging]\nfile = 'none/x'", {}, "error", "none/x cannot be written"),
        (
            "tokens",
            "",
            "[plugins.auth_token]\ntoken = 'weak'",
            {},
            "warning",
            "token of [plugins.auth_token] is weak: others can guess it",
        ),
    ],
)
def test_a_problem_of_the_settings_is_found(
    check: str, host: str, sections: str, env: dict[str, str | None], level: str, message: str, pegboard: Command
) -> None:
    assert findings_of(pegboard, check) == []
    pegboard.configure(host, sections)
    (finding,) = findings_of(pegboard, check, env=env)
    assert (finding["level"], message in finding["message"]) == (level, True), finding["message"]


@pytest.mark.needs("auth")
def test_the_server_that_issued_a_client_secret_replaces_it(pegboard: Command) -> None:
    provider = 'provider = { issuer = "https://a.example", client_id = "x", client_secret = "weak" }'
    login = f'[plugins.login]\nresource = "https://b.example/mcp"\neveryone = true\n{provider}'
    pegboard.configure(sections=login)
    (finding,) = findings_of(pegboard, "tokens")
    assert finding["fix"] == "create a new secret at the server that issued it"


def test_a_port_in_use_is_found(pegboard: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        pegboard.configure(sections=f"[plugins.http]\nport = {port}")
        (finding,) = findings_of(pegboard, "ports")
    owner = f"(process {os.getpid()})" if sys.platform == "linux" else "a process"
    assert f"{owner} listens at 127.0.0.1:{port}" in finding["message"]
    assert findings_of(pegboard, "ports") == []


@pytest.mark.parametrize(("days", "level"), [(-1, "error"), (7, "warning"), (90, None)])
def test_the_expiry_of_a_certificate_is_found(days: int, level: str | None, pegboard: Command) -> None:
    certificate(pegboard.folder / "tls.pem", days)
    pegboard.configure(sections="[plugins.http]\nport = 0\ncertificate = 'tls.pem'")
    assert [finding["level"] for finding in findings_of(pegboard, "certificates")] == ([level] if level else [])


def test_names_and_schemas_that_clients_reject_are_found_with_their_source(pegboard: Command) -> None:
    pegboard.install("odd", TOOLS)
    rules = findings_of(pegboard, "clients' rules")
    assert [rule["message"].partition(" may reject the tool ")[0] for rule in rules] == [
        "clients of models of Anthropic and OpenAI",
        "Visual Studio Code",
        "Claude Code",
        "Cursor",
    ]
    assert all(rule["source"].startswith("https://") and rule["fix"] for rule in rules)


def test_too_many_tools_and_a_slow_import_are_found(pegboard: Command) -> None:
    more = "\nfor number in range(101):\n    kit.tool(name=f't{number}', description='One.')(lambda: 'x')\n"
    pegboard.install("slow", SLOW + more)
    assert "takes" in findings_of(pegboard, "import times")[0]["message"]
    assert [finding["message"].split()[0] for finding in findings_of(pegboard, "clients' rules")] == ["Windsurf"]


def test_a_store_that_cannot_be_opened_is_found(pegboard: Command) -> None:
    store = (
        "from pegboard.plugin import Plugin, SecretStore, hookimpl\nclass Broken(SecretStore):\n    name = 'broken'\n"
        "    def get(self, name):\n        raise OSError('the disk is away')\n"
        "class P(Plugin):\n    @hookimpl\n    def register_secret_stores(self):\n        return [Broken()]\n"
    )
    pegboard.install("broken", store, group="pegboard.plugins", target="P")
    pegboard.configure('plugins = ["broken"]')
    (finding,) = findings_of(pegboard, "stores")
    assert "the disk is away" in finding["message"]


def test_a_plugin_that_fails_is_found(pegboard: Command) -> None:
    pegboard.install("broken", "1 / 0")
    (finding,) = findings_of(pegboard, "plugins")
    assert "ZeroDivisionError" in finding["message"]


def test_built_in_plugins_change_no_process(pegboard: Command) -> None:
    pegboard.configure(sections="[plugins.opentelemetry]\n[plugins.prometheus]")
    done = pegboard.run(pegboard.arguments("doctor", "--json"))
    assert (bool(done.out), "changed the process" in done.out) == (True, False)


DAMAGED = "operator-token does not contain an operator token: remove the file, and start again"


@pytest.mark.parametrize("damage", [b"", b"x\n", b"\xff\x00"])
def test_a_damaged_operator_token_is_found_before_the_start(damage: bytes, pegboard: Command) -> None:
    file = pegboard.folder / ".local/state/pegboard/operator-token"
    file.parent.mkdir(parents=True)
    file.write_bytes(damage)
    file.chmod(0o600)
    runs = [pegboard(*command.split()) for command in ("serve", "config check", "doctor")]
    assert [run.code for run in runs] == [3, 3, 3]
    assert all(DAMAGED in " ".join((run.out + run.err).split()) for run in runs)


@pytest.mark.skipif(os.name != "posix", reason="other systems have no limit for files")
def test_a_full_state_directory_is_found_before_the_start_and_named(pegboard: Command) -> None:
    """A limit of 0 bytes for new files acts like a full disk."""
    state = pegboard.folder / ".local/state/pegboard"
    state.mkdir(parents=True, mode=0o700)
    expected = {
        "serve --host 192.0.2.1": f"there is no operator token: {state}: ",
        "config check": f"there is no operator token: {state}: ",
        "doctor": f"the state directory {state} cannot be written: ",
    }
    for command, words in expected.items():
        line = ["sh", "-c", f"ulimit -f 0; exec {' '.join(pegboard.arguments(command))}"]
        done = pegboard.run(line)
        assert words in " ".join((done.out + done.err).split())
    assert not [*state.glob("*operator-token*"), *state.glob(".*probe*")]


def test_modes_and_the_state_directory_are_fixed(pegboard: Command) -> None:
    state = pegboard.folder / "state" / "pegboard"
    (missing,) = findings_of(pegboard, "state directory")
    assert (missing["fixable"], missing["fixed"], state.exists()) == (True, "", False)
    assert findings_of(pegboard, "state directory", "--fix")[0]["fixed"] == f"created {state}"
    file = state / "token"
    file.write_text("x")
    file.chmod(0o644)
    state.chmod(0o755)
    config = pegboard.folder / "hostconfig.toml"
    config.chmod(0o666)
    assert [finding["level"] for finding in findings_of(pegboard, "file modes")] == ["error"]
    assert [finding["fixed"] != "" for finding in findings_of(pegboard, "state directory", "--fix")] == [True, True]
    assert [oct(path.stat().st_mode & 0o777) for path in (file, state, config)] == ["0o600", "0o700", "0o644"]
    assert findings_of(pegboard, "state directory") + findings_of(pegboard, "file modes") == []


def test_a_state_directory_that_every_user_can_write_is_an_error_and_one_of_a_group_a_warning(
    pegboard: Command,
) -> None:
    state = pegboard.folder / "state" / "pegboard"
    state.mkdir(parents=True)
    for mode, level in ((0o777, "error"), (0o770, "warning")):
        state.chmod(mode)
        (finding,) = findings_of(pegboard, "state directory")
        assert (finding["level"], finding["fixable"]) == (level, True)
        assert f"(mode {mode:04o})" in finding["message"]
    if os.geteuid() == 0:
        os.chown(state, 65532, -1)  # a volume of a container belongs to another user
        (finding,) = findings_of(pegboard, "state directory")
        assert (finding["level"], finding["fixable"]) == ("warning", False)


def test_a_file_of_secrets_that_others_can_read_is_fixed(pegboard: Command) -> None:
    file = pegboard.write("DEMO_KEY=x\n", ".env")
    file.chmod(0o644)
    (finding,) = findings_of(pegboard, "file modes", "--fix", env={"DEMO_KEY": None})
    assert (finding["level"], file.stat().st_mode & 0o777) == ("warning", 0o600)


def test_the_text_names_each_check_and_the_fix(pegboard: Command) -> None:
    state = pegboard.folder / "state" / "pegboard"
    state.mkdir(parents=True)
    state.chmod(0o777)
    done = pegboard("doctor", env={"DEMO_KEY": None, "XDG_STATE_HOME": str(state.parent)})
    assert (done.code, done.err) == (3, "")
    assert "\nok       configuration\n" in done.out
    assert "\nwarning  secrets: toolkit 'demo'" in done.out
    assert f"\n         chmod 0700 {state}\n" in done.out
