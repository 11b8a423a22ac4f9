"""Commands, options and checks that a third-party plugin declares, and the command `token`."""

from __future__ import annotations

from pathlib import Path

import jwt
import pytest

from pegboard.cli.parsing.parser import parse
from pegboard.loading.plugin_facts import FACTS_FILE
from pegboard.terminal.printing import UsageError
from tests.support.command_line import Command, findings_of
from tests.support.distributions import make_distribution, make_sample_site


@pytest.fixture
def desk(pegboard: Command) -> Command:
    """The command with a plugin that adds `desk`, `serve --desk-owner` and a check."""
    make_sample_site(pegboard.site, "acme_desk")
    pegboard.configure(sections='[plugins.acme_desk]\nowner = "Ada"')
    return pegboard


@pytest.mark.needs("tool_commands")
def test_commands_of_a_group_get_what_they_need(desk: Command) -> None:
    wiped = desk.run(desk.arguments("desk", "wipe", "--fast"))
    assert (wiped.code, wiped.out) == (0, "wiped fast with a towel\nsettings: None, host imported: False\n")
    assert desk("desk", "owner").out == "Ada\n"
    counted = desk("desk", "count", "--only", "demo")
    assert (counted.code, counted.out.split()[:2]) == (0, ["Ada", "has"]), counted
    assert desk("desk", "count", "--at-least", "999").code == 1
    assert "demo_echo" in desk("list").out, "a plugin cannot replace a command of pegboard"


@pytest.mark.needs("tool_commands")
def test_the_help_knows_the_commands(desk: Command) -> None:
    general = desk("--help")
    assert "desk look at the desk" in " ".join(general.out.split())
    assert "the command 'list' of plugin 'acme_desk'" in general.err
    shown = desk("desk", "count", "--help").out
    assert all(words in shown for words in ("Count the tools on the desk.", "--at-least", "--config FILE"))
    assert "pegboard desk owner" in desk("desk", "--help").out


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("desk wipe nothing", 1, "there is no cloth"),
        ("desk wipe glass", 1, "'desk' failed: KeyError: 'canary'"),
        ("desk", 2, "name a command of `pegboard desk`: wipe, owner, count"),
        ("desk count --at-least x", 2, "argument --at-least: must be a whole number, not 'x'"),
        ("desc wipe", 2, "there is no command 'desc'; did you mean 'desk'?"),
        pytest.param(
            "login github",
            2,
            "there is no command 'login': `pegboard enable vault` enables the plugin that adds it",
            marks=pytest.mark.needs("auth"),
        ),
    ],
)
def test_failures_are_told_in_a_line(line: str, code: int, message: str, desk: Command) -> None:
    done = desk(*line.split())
    assert (done.code, done.out, message in done.err, "Traceback" in done.err) == (code, "", True, False), done.err


def test_wrong_settings_fail_a_command_that_needs_them(desk: Command) -> None:
    desk.configure(sections="[plugins.acme_desk]\nowner = 1")
    done = desk("desk", "owner", "--json")
    assert (done.code, done.data["error"]["problems"][0]["key"]) == (3, "plugins.acme_desk.owner")
    assert desk("desk", "wipe").code == 0


@pytest.mark.needs("doctor")
def test_doctor_tells_why_the_check_of_a_failed_plugin_did_not_run(desk: Command) -> None:
    desk.configure(sections="[plugins.acme_desk]\nowner = 1")
    (finding,) = findings_of(desk, "drawers")
    reason = "failed: hostconfig.toml:5: plugins.acme_desk.owner: expected a string"
    assert (finding["level"], reason in finding["message"]) == ("warning", True), finding


def test_an_unnamed_plugin_adds_nothing_and_a_wrong_file_prevents_no_help(desk: Command) -> None:
    desk.configure()
    assert desk("desk", "wipe").code == 2
    assert "drawers" not in desk("doctor").out
    desk.configure(host="nonsense = 1", sections="[plugins.acme_desk]")
    done = desk("--help")
    assert (done.code, "unknown key" in done.err, "look at the desk" in done.out) == (0, True, False)


@pytest.mark.needs("upstreams", "why")
def test_a_plugin_explains_a_name_that_the_running_host_does_not_know(desk: Command) -> None:
    mounted = '[plugins.upstreams.servers.far]\ncommand = "/none/server"'
    desk.configure(sections=f'[plugins.acme_desk]\nowner = "Ada"\n{mounted}')
    assert desk("why", "drawer").out == "Ada had a drawer; the host runs: True\n"
    assert desk("why", "demo_echo").out.startswith("tool demo_echo: served")
    assert desk("why", "shelf").code == 1


def test_a_plugin_adds_an_option_a_variable_and_a_transport(desk: Command) -> None:
    desk.configure(sections="[plugins.acme_desk]")
    assert desk("desk", "owner", env={"ACME_DESK_OWNER": "Eve"}).out == "Eve\n"
    assert "the owner of the desk ([plugins.acme_desk] owner)" in " ".join(desk("serve", "--help").out.split())
    desk.configure(host='transports = ["acme_desk"]')
    assert (desk("desk", "owner").out, desk("plugins").code) == ("nobody\n", 0)


@pytest.mark.parametrize(
    ("facts", "line", "code", "helped", "message"),
    [
        ('arguments = [{ name = "--json", value = true, help = "again" }]', "spoiled", 2, 2, "'spoiled' of plugin"),
        ('arguments = [{ name = "x", type = "acme_desk.lost:x", help = "1 %" }]', "spoiled 1", 2, 0, "cannot be read"),
        ("", "spoiled", 1, 0, "'spoiled' failed: ModuleNotFoundError"),
    ],
)
def test_a_wrong_declaration_is_told_and_the_help_works(
    facts: str, line: str, code: int, helped: int, message: str, desk: Command
) -> None:
    with (desk.site / "acme_desk" / "pegboard_plugin.toml").open("a") as file:
        file.write(f'\n[acme_desk.commands.spoiled]\nsummary = "x"\nrun = "acme_desk.lost:run"\n{facts}\n')
    done = desk(*line.split())
    assert (done.code, message in done.err, "Traceback" in done.err) == (code, True, False), done.err
    assert (desk("--help").code, desk("spoiled", "--help").code, desk("desk", "wipe").code) == (0, helped, 0)


@pytest.mark.needs("tool_commands")
def test_a_function_in_place_of_a_command_runs_only_if_its_plugin_is_enabled(desk: Command) -> None:
    assert desk("list", "--wiped", "sponge").out.startswith("wiped with a sponge")
    for line in (("--safe", "list"), ("list", "--safe")):
        done = desk(*line, "--wiped", "sponge")
        assert (done.code, done.out, "unknown option '--wiped'" in done.err) == (2, "", True)
    desk.configure(host='disabled_plugins = ["acme*"]', sections="[plugins.acme_desk]")
    assert "unknown option '--wiped'" in desk("list", "--wiped", "sponge").err


@pytest.mark.needs("doctor")
def test_doctor_runs_the_check_of_a_plugin(desk: Command) -> None:
    rows = [row for row in desk("doctor", "--json").data["findings"] if row["check"] == "drawers"]
    assert [(row["level"], row["message"], row["fix"]) for row in rows] == [
        ("warning", "the drawers of Ada are open", "close them")
    ]
    desk.configure(sections='[plugins.acme_desk]\nowner = "thief"')
    (row,) = [row for row in desk("doctor", "--json").data["findings"] if row["check"] == "drawers"]
    assert row["message"].endswith("failed: KeyError: 'locked'")


@pytest.mark.needs("worker")
def test_the_command_of_a_plugin_that_failed_fails_with_the_reason(pegboard: Command) -> None:
    pegboard.configure(sections="[plugins.worker]")
    done = pegboard("token", "--json")
    (problem,) = done.data["error"]["problems"]
    assert (done.code, done.err, problem["key"], problem["line"]) == (3, "", "plugins.worker", 4)
    assert problem["message"].startswith("missing secret: set ARCADE_WORKER_SECRET")


SECRET = "0123456789abcdef-a-secret-of-the-tests"


def lifetime(token: str) -> int:
    """Return for how many seconds a token is valid."""
    claims = jwt.decode(token.strip(), SECRET, algorithms=["HS256"], audience="worker")
    assert claims["ver"] == "1"
    return int(claims["exp"] - claims["iat"])


@pytest.mark.needs("worker")
def test_a_token_is_valid_for_an_hour_or_as_long_as_requested_and_shows_no_secret(pegboard: Command) -> None:
    pegboard.configure(sections='[plugins.worker]\nsecret = { env = "MINE" }')
    done = pegboard("token", "-vv", env={"MINE": SECRET})
    assert (done.code, lifetime(done.out), SECRET in done.err) == (0, 3600, False)
    token = pegboard("token", "--json", "--seconds=31622400", env={"MINE": SECRET}).data
    assert (token["expires_in"], lifetime(token["token"])) == (31622400, 31622400)


@pytest.mark.needs("worker")
@pytest.mark.parametrize("seconds", ["0", "31622401", "9" * 5000], ids=lambda text: text[:8])
def test_another_lifetime_is_refused(pegboard: Command, seconds: str) -> None:
    done = pegboard("token", f"--seconds={seconds}", "-vv", env={"ARCADE_WORKER_SECRET": SECRET})
    assert (done.code, done.out, "Traceback" in done.err, SECRET in done.err) == (2, "", False, False)
    assert "argument --seconds: expected a whole number from 1 to 31622400" in done.err


@pytest.mark.needs("worker")
def test_a_weak_secret_causes_a_warning_and_no_token_is_signed_without_a_secret(pegboard: Command) -> None:
    done = pegboard("token", env={"ARCADE_WORKER_SECRET": "a" * 40})
    assert (done.code, bool(done.out), "the secret is weak" in done.err, "HMAC" in done.err) == (0, True, True, False)
    done = pegboard("token", env={"ARCADE_WORKER_SECRET": ""})
    assert (done.code, done.out, "there is no command 'token'" in done.err) == (2, "", True)
    done = pegboard("token", env={"ARCADE_AUTH_DISABLED": "true"})
    assert (done.code, done.out, "a token cannot be signed: set ARCADE_WORKER_SECRET" in done.err) == (1, "", True)


FACTS = """
[acme.commands.serve]
options = [
  { name = "--acme-size", aliases = ["-s", "--wide"], key = "size", metavar = "SIZE", type = "integer", help = "size" },
  { name = "--acme-fast", key = "speed", value = "fast", help = "hurry" },
  { name = "--port", key = "port", help = "another port" },
  { name = "--acme-narrow", aliases = ["--wide"], key = "narrow", help = "not the size" },
]

[acme.commands.list]
options = [
  { name = "--acme-first", aliases = ["-f"], value = true, run = "acme:first", help = "the first" },
  { name = "--acme-second", aliases = ["-f"], value = true, run = "acme:second", help = "the second" },
  { name = "--no-wait", value = true, run = "acme:third", help = "the third" },
]
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration file beside an installed plugin, which is not imported."""
    name = f"acme_{tmp_path.name}"
    files = {f"{name}/__init__.py": "raise SystemExit('imported')", f"{name}/{FACTS_FILE}": FACTS}
    make_distribution(tmp_path, "acme", "1", {"pegboard.plugins": {"acme": f"{name}:Acme"}}, files)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path / "hostconfig.toml"


def test_options_of_a_named_plugin_set_its_keys(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text("[plugins.acme]\n")
    command = ["--config", str(config), "serve"]
    options = vars(parse([*command, "--acme-size", "9", "--acme-fast", "--port", "80"]))
    assert (options["plugins.acme.size"], options["plugins.acme.speed"]) == (9, "fast")
    assert (options["plugins.http.port"], "plugins.acme.port" in options) == (80, False)
    assert [vars(parse([*command, name, "7"]))["plugins.acme.size"] for name in ("-s", "--wide")] == [7, 7]
    with pytest.raises(SystemExit):
        parse([*command, "--help"])
    assert "--acme-size SIZE" in (shown := capsys.readouterr().out)
    assert "size ([plugins.acme] size)" in shown


@pytest.mark.needs("tool_commands")
def test_an_option_with_a_name_that_is_taken_does_not_take_the_place_of_a_command(config: Path) -> None:
    config.write_text("[plugins.acme]\n")
    options = parse(["--config", str(config), "list", "--no-wait", "-f"])
    assert (options.run, options.no_wait) == ("acme:first", True)


def test_options_of_a_plugin_that_nobody_names_are_unknown(config: Path) -> None:
    config.write_text("[plugins.cache]\n")
    with pytest.raises(UsageError, match="unknown option '--acme-size'"):
        parse(["--config", str(config), "serve", "--acme-size", "9"])
