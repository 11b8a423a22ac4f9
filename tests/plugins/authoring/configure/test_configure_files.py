"""The files of clients: an entry is added and removed, and every other byte is kept."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.cli import main
from pegboard_plugins.authoring.configure.clients import CLIENTS
from pegboard_plugins.authoring.configure.jsonc_edit import parse_jsonc
from pegboard_plugins.authoring.configure.toml_edit import delete_toml, read_toml, set_toml
from pegboard_plugins.support.edited_file import EditedFileError

ARGUMENTS = ["stdio", "--without", "files"]
"""Those of an entry without options: the toolkit `files` is installed here, and nobody was asked for its folder."""
COMMENT = re.compile(r"//note[^\r\n]*|/\*note.*?\*/")
TRIVIA = st.sampled_from(
    ["", " ", "\n", "\t", "\r\n", "\n\n    ", ' //note "}{,\n', '/*note, "b": { */', " //note\r\n\t", "\n  //note\n  "]
)
SCALAR = st.sampled_from(["1", "-2.5e3", "true", "null", '"x"', '"//no, {"', '"\\u00e9\\n\\"]"', '"\u20ac"'])


@st.composite
def jsonc(draw: st.DrawFn, depth: int = 0) -> str:
    """Return a value with comments, trailing commas and any white space."""

    def gap() -> str:
        return draw(TRIVIA)

    kinds = ["object", "array", "scalar"] if depth < 3 else ["scalar"]
    kind = draw(st.sampled_from(kinds if depth > 0 else kinds[:1]))
    if kind == "scalar":
        return draw(SCALAR)
    values = [draw(jsonc(depth + 1)) for _ in range(draw(st.integers(0, 3)))]
    if kind == "object":
        names = draw(st.lists(st.sampled_from(["a", "b\\u0041", "c d", "\u20ac"]), min_size=3, max_size=3, unique=True))
        values = [f'"{name}"{gap()}:{gap()}{value}' for name, value in zip(names, values, strict=False)]
        if depth == 0 and draw(st.booleans()):
            servers = draw(jsonc(-1)) if draw(st.booleans()) else "{}"
            values.insert(draw(st.integers(0, len(values))), f'"mcpServers"{gap()}:{gap()}{servers}')
        elif depth == -1:
            values = [f'"s{number}":{gap()}{{"command": "x"}}' for number in range(len(values))]
    has_trailing_comma = draw(st.booleans())
    inner = ",".join(f"{gap()}{value}{gap()}" for value in values)
    if values and has_trailing_comma:
        inner += "," + gap()
    brackets = "{}" if kind == "object" else "[]"
    return brackets[0] + (inner or gap()) + brackets[1]


@pytest.fixture(autouse=True, scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Run the commands in an empty folder, without a configuration."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("empty"))
        patch.setenv("HOME", os.getcwd())
        for name in [name for name in os.environ if name.startswith(("PEGBOARD_", "XDG_"))]:
            patch.delenv(name)
        yield


def configure(*arguments: str) -> int:
    return main(["configure", *arguments])


def add(client: str, file: Path, *more: str) -> int:
    return configure(client, "--path", str(file), "--no-check", *more)


@settings(max_examples=40)  # each runs the command
@given(start=TRIVIA, document=jsonc(), end=TRIVIA, mark=st.sampled_from(["", "\ufeff"]))
def test_any_jsonc_file_keeps_its_bytes(start: str, document: str, end: str, mark: str) -> None:
    text = mark + start + document + end
    expected = parse_jsonc(text).value
    with TemporaryDirectory() as folder:
        file = Path(folder, "mcp.json")
        file.write_bytes(text.encode())
        assert add("cursor", file) == 0
        changed = file.read_bytes()
        tree = parse_jsonc(changed.decode()).value
        entry = tree["mcpServers"].pop("pegboard")
        assert entry["args"] == ARGUMENTS
        assert tree == {"mcpServers": {}} | expected
        assert sorted(COMMENT.findall(changed.decode())) == sorted(COMMENT.findall(text))
        if is_json(text):
            json.loads(changed.decode("utf-8-sig"))
        assert add("cursor", file) == 0
        assert file.read_bytes() == changed
        # without the backup, the entry is cut out
        backup = file.with_name("mcp.json.pegboard-backup")
        original = backup.read_bytes()
        backup.unlink()
        assert configure("remove", "cursor", "--path", str(file)) == 0
        if file.exists():
            cut = file.read_bytes().decode()
            assert parse_jsonc(cut).value == {"mcpServers": {}} | expected
            assert sorted(COMMENT.findall(cut)) == sorted(COMMENT.findall(text))
        file.write_bytes(changed)
        backup.write_bytes(original)
        assert configure("remove", "cursor", "--path", str(file)) == 0
        assert file.read_bytes() == text.encode()
        assert os.listdir(folder) == ["mcp.json"]


STATEMENTS = st.sampled_from(
    [
        "a = 1\n", "\n", "\t\n", "# [mcp_servers.pegboard]\n", 's = """\n[mcp_servers.pegboard]\nx = 1 # "\n"""\n',
        "t = '''a\n[b]'''\n", "l = [\n  1, # ]\n  [2],\n]\n", 'x = { a = [1], "b]" = "]" }\n', "[[arr]]\n", "[tui]\n",
        "[mcp_servers.other] # c\n", 'command = "x"\n', "[mcp_servers]\n", '[mcp_servers."a]b"]\n', " [ sp . ace ] \n",
    ]
)  # fmt: skip


@given(statements=st.lists(STATEMENTS, max_size=8), newline=st.sampled_from(["\n", "\r\n"]))
def test_any_toml_file_keeps_its_bytes(statements: list[str], newline: str) -> None:
    text = "".join(statements).replace("\n", newline)
    path = ("mcp_servers", "pegboard")
    try:
        expected = read_toml(text, ())
    except EditedFileError:
        return  # keys or tables twice
    entry = {"command": "/a", "args": ["stdio", "]"], "env": {"A": '"'}}
    changed = set_toml(text, path, entry)
    assert changed.startswith(text)
    expected.setdefault(path[0], {})["pegboard"] = entry
    assert read_toml(changed, ()) == expected
    assert set_toml(changed, path, entry) == changed
    try:
        removed = delete_toml(set_toml(changed, path, {"command": "/b"}), path)
    except EditedFileError:  # the parts of other tables are apart
        assert "[[arr]]\n" in statements or "[mcp_servers]\n" in statements
    else:
        assert removed.strip() == text.strip()


@pytest.mark.parametrize("below", ["[mcp_servers.pegboard.env]", "[[mcp_servers.pegboard.more]]"])
def test_comments_and_tables_after_a_toml_entry_stay(below: str) -> None:
    own = '[mcp_servers.pegboard]\ncommand = "x" # ours\n# ours too\nargs = []\n' + f'{below}\nA = "1"\n'
    before, after = "\ufeffa = 1\n\n", "# of the next table\n\n[tui]\n# last\n"
    path = ("mcp_servers", "pegboard")
    assert delete_toml(before + own + after, path) == "\ufeffa = 1\n" + after
    changed = set_toml(before + own + after, path, {"command": "y"})
    assert changed == before + '[mcp_servers.pegboard]\ncommand = "y"\n' + after


def is_json(text: str) -> bool:
    try:
        json.loads(text.removeprefix("\ufeff"))
    except ValueError:
        return False
    return True


CODEX = """model = "gpt"   # the model
notes = '''
[mcp_servers.pegboard]
'''

[mcp_servers.docs]   # ours
command = "npx"
args = [
  "-y", # [yes]
  "docs",
]
[mcp_servers.docs.env]
KEY = "a ] b"

# the last table
[tui]
theme = "dark"
"""
SAMPLES = {
    "claude-code": ('{"projects": {"/a": {"mcpServers": {"x": {"command": "y"}}}}}', "", "{}", "  "),
    "claude-desktop": ('{\n  "globalShortcut": "Ctrl+Space"\n}',),
    "codex": (CODEX, CODEX.replace("\n", "\r\n"), CODEX.rstrip(), "", "# empty\n", '[mcp_servers."a.b"]\nx = 1'),
    "cursor": ('{"mcpServers": {"a": {"command": "b"}}}\n', '{\n  "mcpServers": {\n  }\n}'),
    "gemini-cli": ('{"mcpServers":\n    {\n        "a": {"httpUrl": "https://a.example"}\n    }\n}',),
    "vscode": (
        '{\n\t"inputs": [],  // asked once\n\t"servers": {\n\t\t/* local */ "a": {"command": "b",},\n\t},\n}\n',
    ),
    "windsurf": ('{ "mcpServers": { /* none */ } }',),
    "zed": ('// Zed settings\r\n{\r\n  "context_servers": {} // none yet\r\n}\r\n',),
}


def document(text: str, client: str) -> Any:
    if client == "codex":
        return tomllib.loads(text.replace("\r\n", "\n"))
    return parse_jsonc(text).value if text.strip() else {}


@pytest.mark.parametrize(("client", "text"), [(name, text) for name, texts in SAMPLES.items() for text in texts])
def test_a_file_of_each_client_gets_its_entry_and_its_bytes_back(client: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / ("config.toml" if client == "codex" else "settings.json")
    file.write_bytes(text.encode())
    key = CLIENTS[client].servers
    remote = [["--url", "https://b.example/mcp", "--header", "A: b"]] if CLIENTS[client].url else []
    for options in (["--env", "KEY=1"], *remote):
        assert add(client, file, *options) == 0
        changed = file.read_bytes()
        assert add(client, file, *options) == 0
        assert file.read_bytes() == changed
        tree = document(changed.decode(), client)
        entry = tree[key].pop("pegboard")
        if options[0] == "--url":
            assert (entry[CLIENTS[client].url], entry[CLIENTS[client].headers]) == ("https://b.example/mcp", {"A": "b"})
            assert "command" not in entry
        else:
            assert (entry["args"], entry["env"]) == (ARGUMENTS, {"KEY": "1"})
            assert Path(entry["command"]).is_absolute()
        assert tree == {key: {}} | document(text, client)
    assert configure("remove", client, "--path", str(file)) == 0
    assert file.read_bytes() == text.encode()
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("name", "client", "text", "old", "new"),
    [
        ("a.json", "cursor", '{\n  "mcpServers": {},\n  "x": 1\n}\n', '"args":', '"disabled": true, // mine\n"args":'),
        ("a.toml", "codex", "x = 1\n", "args =", "disabled = true\nargs ="),
    ],
)
def test_members_that_a_user_added_to_the_entry_and_changes_elsewhere_stay(
    name: str, client: str, text: str, old: str, new: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    file.write_text(text)
    assert add(client, file, "--env", "A=1") == 0
    file.write_text(file.read_text().replace(old, new).replace("1\n", "2\n"))
    assert add(client, file, "--env", "B=2", "--only", "math", "--name", "pegboard") == 0
    changed = file.read_text()
    entry = document(changed, client)[CLIENTS[client].servers]["pegboard"]
    assert (entry["env"], entry["args"]) == ({"A": "1", "B": "2"}, ["stdio", "--only", "math"])
    assert (entry["disabled"], changed.count("// mine")) == (True, 1 if client == "cursor" else 0)
    assert configure("remove", client, "--path", str(file)) == 0
    assert file.read_text() == text.replace("1\n", "2\n")


def test_a_new_file_is_removed_again_and_a_dry_run_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mcp.json"
    assert add("cursor", file, "--dry-run", "--env", "KEY=hidden-value") == 0
    output = capsys.readouterr().out
    assert f'+   "args": {json.dumps(ARGUMENTS)}' in output
    assert '"KEY": "***"' in output
    assert "hidden-value" not in output
    assert not file.exists()
    assert add("cursor", file, "--env", "KEY=hidden-value") == 0
    assert (file.stat().st_mode & 0o777, json.loads(file.read_text())["mcpServers"].keys()) == (0o600, {"pegboard"})
    assert configure("remove", "cursor", "--path", str(file), "--dry-run") == 0
    assert configure("remove", "cursor", "--path", str(file)) == 0
    assert list(tmp_path.iterdir()) == []
    assert configure("remove", "cursor", "--path", str(file)) == 0
    assert "nothing to remove" in capsys.readouterr().err


def test_a_difference_has_the_form_of_the_file_and_no_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config.toml"
    for value in ("hidden-one", "hidden-two"):
        add("codex", file, "--env", f"KEY={value}")
    output = capsys.readouterr().out
    assert "  + [mcp_servers.pegboard]\n" in output
    assert '  - env = { KEY = "***" }\n  + env = { KEY = "*** (changed)" }\n' in output
    assert "hidden" not in output


def test_a_command_in_the_cache_of_uv_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "/home/ann/.cache/uv/archive-v0/Ab/bin/python")
    assert add("cursor", tmp_path / "mcp.json") == 0
    assert "is in the cache of uv, and uv may delete it" in capsys.readouterr().err


def test_a_link_and_the_permissions_of_its_target_stay(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    target, link = tmp_path / "dotfiles" / "real.json", tmp_path / "mcp.json"
    target.write_text("{}")
    target.chmod(0o640)
    link.symlink_to(target)
    assert add("cursor", link) == 0
    assert (link.is_symlink(), target.stat().st_mode & 0o777) == (True, 0o640)
    assert "pegboard" in target.read_text()
    assert configure("remove", "cursor", "--path", str(link)) == 0
    assert (link.is_symlink(), target.read_text()) == (True, "{}")


def contents(folder: Path) -> dict[Path, bytes | bool]:
    return {path: path.is_file() and path.read_bytes() for path in folder.iterdir() if not path.is_symlink()}


def read_only(file: Path) -> None:
    file.write_text("{}")
    file.chmod(0o444)


FAULTY: list[tuple[str, str | bytes | Callable[[Path], None], str]] = [
    ("a.json", '{\n "a": 1\n "b": 2}', 'line 3: expected "," or "}"'),
    ("a.json", '{"a": ', "the end is missing"),
    ("a.json", '{"a": [1 2]}', 'expected "," or "]"'),
    ("a.json", '{"a": nope}', "nope is not a JSON value"),
    ("a.json", "{} x", "unexpected text after the end"),
    ("a.json", "[]", "the document must be an object"),
    ("a.json", '{"mcpServers": []}', "mcpServers must be an object"),
    ("a.json", '{"mcpServers": {}, "mcpServers": {}}', "'mcpServers' 2 times"),
    ("a.json", '{"a":' * 100_000, "nested too deeply"),
    ("a.json", b"\xff\xfe", "not UTF-8"),
    ("a.json", read_only, "is read-only"),
    ("a.json", Path.mkdir, "is not a file"),
    ("a.json", lambda file: file.symlink_to(file), "a.json cannot be "),
    ("missing/a.json", lambda file: None, "does not exist"),
    ("a.toml", "[x\n", "it is not TOML"),
    ("a.toml", "mcp_servers = 1\n", "mcp_servers must be a table"),
    ("a.toml", "mcp_servers = {}\n", "must be written as a table [mcp_servers.pegboard]"),
    ("a.toml", 'mcp_servers.pegboard.command = "x"\n', "must be written as a table [mcp_servers.pegboard]"),
]


@pytest.mark.parametrize(("name", "content", "problem"), FAULTY)
def test_a_file_that_cannot_be_changed_stays_and_has_one_clear_message(
    name: str,
    content: str | bytes | Callable[[Path], None],
    problem: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / name
    if isinstance(content, str | bytes):
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    else:
        content(file)
    before = contents(tmp_path)
    assert add("codex" if name.endswith("toml") else "cursor", file) == 1
    errors = capsys.readouterr().err
    assert problem in errors
    assert (errors.count("\n"), str(tmp_path) in errors) == (1, True)
    if isinstance(content, str):
        assert "name another with --path. The file is unchanged." in errors
    assert contents(tmp_path) == before
