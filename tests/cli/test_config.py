"""`pegboard config check` and `config show`."""

from __future__ import annotations

from typing import Any

import pytest
import tomli

from tests.cli.conftest import INSTALLED, Command

BROKEN = "raise OSError('no such disk')\n"
CANARY = "canary-7f3a91"


# --- check


def test_fine_is_said_with_the_file_and_what_is_on(pegboard: Command) -> None:
    done = pegboard("config", "check")
    assert (done.code, done.err) == (0, "")
    (line,) = done.out.splitlines()
    assert line.startswith(f"ok: {pegboard.folder / 'hostconfig.toml'}; plugins: ")
    for name in ("logging", "mcp", "secrets_env"):
        assert name in line
    assert "toolkits: demo; " in line
    assert line.endswith(" tools")


def test_without_a_file_the_defaults_hold(bare: Command) -> None:
    (bare.folder / "hostconfig.toml").unlink()
    done = bare("config", "check")
    assert done.code == 0
    assert done.out.startswith("ok: no file, so the defaults hold; ")


def test_everything_that_is_wrong_is_said_at_once(pegboard: Command) -> None:
    pegboard.configure(
        'nmae = "x"\npage_size = 0\nmiddleware = ["lgoging"]\nrequired = ["dmeo"]\ndisabled_tools = ["demo_ecko"]',
        '[toolkits.demo]\nword = 5\nwrod = "x"\n[plugins.mpc]\n[toolkitss.demo]',
    )
    done = pegboard("config", "check", env={"PEGBOARD__HOST__TOOL_NAMES": "camel"})
    assert (done.code, done.out) == (3, "")
    for told in (
        'hostconfig.toml:3: host.nmae: unknown key; did you mean "name"?',
        "hostconfig.toml:4: host.page_size: expected at least 1",
        "'lgoging'",
        'did you mean "logging"?',
        'did you mean "demo"?',
        "demo_ecko",
        "hostconfig.toml:9: toolkits.demo.word: expected a string",
        'hostconfig.toml:10: toolkits.demo.wrod: unknown key; did you mean "word"?',
        'plugins.mpc: no plugin of this name is installed; did you mean "mcp"?',
        'toolkitss: unknown section; did you mean "toolkits"?',
        "PEGBOARD__HOST__TOOL_NAMES",
    ):
        assert told in done.err, told
    assert all(line.startswith("pegboard: ") for line in done.err.splitlines())


def test_what_does_not_keep_the_host_from_starting_is_said_and_is_fine(pegboard: Command) -> None:
    pegboard.install("broken", BROKEN)
    pegboard.configure('disabled_tools = ["demo_ecko"]')
    done = pegboard("config", "check")
    assert done.code == 0
    assert done.out.startswith("ok: ")
    assert "no such disk" in done.err
    assert "demo_ecko" in done.err
    assert pegboard("config", "check", "--strict").code == 3


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[host\n", "hostconfig.toml:1:6: not valid TOML"),
        ("[host]\nname = 1\n\xff", None),
        ("host = 5\n", "hostconfig.toml:1: host: expected a table"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(text: str, told: str | None, pegboard: Command) -> None:
    (pegboard.folder / "hostconfig.toml").write_bytes(text.encode("latin-1"))
    done = pegboard("config", "check")
    assert done.code == 3
    assert (told or "is not UTF-8") in done.err


def test_a_file_that_is_named_must_be_there(pegboard: Command) -> None:
    done = pegboard("config", "check", "--config", "prod.toml")
    assert (done.code, done.out) == (3, "")
    assert "prod.toml: cannot be read: there is no such file (named by --config)" in done.err


def test_what_is_wrong_with_a_tool_is_fatal_where_that_is_asked_for(pegboard: Command) -> None:
    pegboard.install("odd", "from pegboard import Toolkit\nkit = Toolkit('odd')\nkit.tool(print)\n")
    assert pegboard("config", "check").code == 0
    done = pegboard("config", "check", "--strict")
    assert (done.code, "tool 'print'" in done.err) == (3, True)


def test_check_as_json(pegboard: Command) -> None:
    found = pegboard("config", "check", "--json").data
    assert (found["ok"], found["problems"], found["toolkits"]) == (True, [], ["demo"])
    assert found["file"] == str(pegboard.folder / "hostconfig.toml")
    pegboard.configure('nmae = "x"')
    done = pegboard("config", "check", "--json")
    assert (done.code, done.err, done.data["ok"]) == (3, "", False)
    (problem,) = done.data["problems"]
    assert problem["fatal"] is True
    assert "host.nmae" in problem["message"]


def test_nothing_is_started(pegboard: Command) -> None:
    pegboard.install(
        "living",
        "from pegboard import Toolkit\nkit = Toolkit('living')\n"
        "@kit.lifespan\nasync def live(config):\n    open('started', 'w').close()\n    yield\n",
    )
    assert pegboard("config", "check").code == 0
    assert not (pegboard.folder / "started").exists()


def test_secrets_are_not_told(pegboard: Command) -> None:
    pegboard.configure(sections=f'[toolkits.demo]\napi_key = ["{CANARY}"]')
    done = pegboard("config", "check")
    assert done.code == 3
    assert CANARY not in done.err


# --- show


def lines_of(text: str) -> dict[str, str]:
    """Each key with what stands after its line's `#`."""
    found: dict[str, str] = {}
    table = ""
    for line in text.splitlines():
        if line.startswith("["):
            table = line.strip("[]")
        elif "  # " in line:
            setting, source = line.rsplit("  # ", 1)
            found[f"{table}.{setting.lstrip('# ').split()[0]}"] = source
    return found


def test_every_setting_is_shown_with_its_source(pegboard: Command) -> None:
    pegboard.configure('name = "mine"\n', '[toolkits.demo]\nword = "moin"')
    done = pegboard("config", "show", env={"PEGBOARD__HOST__PAGE_SIZE": "7", "ARCADE_DISABLED_TOOLS": "demo_echo"})
    assert (done.code, done.err) == (0, "")
    sources = lines_of(done.out)
    assert sources["host.name"] == "hostconfig.toml:3"
    assert sources["host.page_size"] == "environment variable PEGBOARD__HOST__PAGE_SIZE"
    assert sources["host.threads"] == "default"
    assert sources["host.title"] == "default"
    assert sources["toolkits.demo.word"] == "hostconfig.toml:6"
    assert sources["toolkits.demo.write"] == "default"
    assert done.out.startswith(f"# {pegboard.folder / 'hostconfig.toml'}\n")


def test_what_is_shown_is_toml_that_means_the_same(pegboard: Command) -> None:
    word = 'quote " back\\slash \u202e tab\t 日本 \U000e0041 é'
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    pegboard.configure('name = "a # b"\nmiddleware = ["logging"]', f'[toolkits.demo]\nword = "{escaped}"')
    first = pegboard("config", "show").out
    shown: dict[str, Any] = tomli.loads(first)
    assert shown["host"]["name"] == "a # b"
    assert shown["host"]["disabled_toolkits"] == INSTALLED
    assert shown["toolkits"]["demo"] == {"word": word, "write": False}
    assert "\u202e" not in first
    (pegboard.folder / "again.toml").write_text(first, "utf-8")
    assert tomli.loads(pegboard("config", "show", "--config", "again.toml").out) == shown


def test_show_as_json(pegboard: Command) -> None:
    pegboard.configure('name = "mine"')
    found = pegboard("config", "show", "--json").data
    assert found["file"] == str(pegboard.folder / "hostconfig.toml")
    assert found["values"]["host"]["name"] == "mine"
    assert found["values"]["toolkits"]["demo"] == {"word": "hello", "api_key": None, "write": False}
    assert found["sources"]["host.name"] == "hostconfig.toml:3"
    assert found["sources"]["toolkits.demo.word"] == "default"


def test_secrets_are_masked_and_references_are_shown_as_written(pegboard: Command) -> None:
    pegboard.configure(sections=f'[toolkits.demo]\napi_key = "{CANARY}"')
    for options in ((), ("--json",)):
        done = pegboard("config", "show", *options)
        assert CANARY not in done.out + done.err
        assert "api_key" in done.out
    pegboard.configure(sections='[toolkits.demo]\napi_key = { env = "DEMO_KEY" }')
    done = pegboard("config", "show", env={"DEMO_KEY": CANARY})
    assert CANARY not in done.out + done.err
    assert 'api_key = { env = "DEMO_KEY" }' in done.out


def test_what_is_wrong_is_said_and_the_rest_is_shown(pegboard: Command) -> None:
    pegboard.configure('page_size = 0\nname = "mine"', "[toolkits.demo]\nword = 5")
    done = pegboard("config", "show")
    assert done.code == 3
    assert "host.page_size" in done.err
    assert "toolkits.demo.word" in done.err
    assert tomli.loads(done.out)["host"]["name"] == "mine"
    assert tomli.loads(done.out)["host"]["page_size"] == 1000
