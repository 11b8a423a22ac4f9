"""Files that hold credentials: closed to every tool by default, closed further by `deny`, reopened by `allow`."""

import os
from pathlib import Path
from typing import Any

import pytest

from pegboard_testing import connect
from toolkit_files import kit
from toolkit_files.problems import FileProblem
from toolkit_files.roots import Roots, look, parent

KEYS = "id_rsa id_rsa.old id_dsa id_ecdsa_sk id_ed25519 a.pem a.KEY a.p12 a.pfx a.kdbx a.jks a.keytab"
SETTINGS = ".env .env.local .envrc .npmrc .netrc .pypirc .git-credentials .pgpass .htpasswd x.tfstate x.tfstate.backup"
PATHS = ".git/config .git/modules/sub/config .docker/config.json .kube/config .config/gcloud/x .cargo/credentials.toml"
PLACES = ".ssh .ssh/config .aws/credentials .gnupg/x .config/gh/hosts.yml .local/state/pegboard/operator .bash_history"
OPEN = "id_rsa.pub id_ed25519.pub .env.example .env.sample env .git/HEAD .gitignore config.json key keys/a.txt pem.txt"


@pytest.mark.parametrize("path", f"{KEYS} {SETTINGS} {PATHS} {PLACES}".split())
def test_credentials_are_closed_at_any_depth_in_upper_and_lower_case(roots: Roots, path: str) -> None:
    for below in ("", "deep/down/"):
        for spelt in (path, path.upper(), path.swapcase()):
            with pytest.raises(FileProblem, match="is closed to these tools") as caught:
                roots.locate(below + spelt)
            assert not caught.value.correctable


def test_similar_names_are_open(roots: Roots) -> None:
    for path in OPEN.split():
        roots.locate(path)


@pytest.mark.parametrize(
    "name", [".\u017f\u017fh", ".ßh", ".s\u200csh", ".ssh\ufeff", "ID_R\u017fA", ".\uff45nv", "id_\xadrsa"]
)
def test_spellings_that_some_file_systems_take_for_the_same_name_are_closed(root: Path, name: str) -> None:
    with pytest.raises(FileProblem, match="closed"):
        Roots([str(root)]).locate(name)


@pytest.mark.parametrize(("above", "path"), [(".docker", "config.json"), (".git", "config"), (".aws", "credentials")])
def test_a_root_inside_of_a_directory_of_credentials_opens_nothing(root: Path, above: str, path: str) -> None:
    (root / above).mkdir()
    with pytest.raises(FileProblem, match="closed"):
        Roots([str(root / above)]).locate(path)


def test_environments_of_processes_are_closed() -> None:
    with pytest.raises(FileProblem, match="closed"):
        Roots(["/proc"]).locate(f"{os.getpid()}/environ")


@pytest.mark.parametrize(
    ("deny", "allow", "opened", "closed"),
    [
        (["mine"], [], "other", "mine .env"),
        ([], [".env"], ".env deep/.env", ".env.local"),
        ([], [".env.*"], ".env.local", ".env"),
        ([], ["/certs/*.pem"], "certs/a.pem", "a.pem deep/certs/a.pem"),
        ([], ["certs/**"], "certs/a.pem certs/x/id_rsa", "a.pem"),
        ([], [".ssh"], ".ssh .ssh/known_hosts", ".ssh/id_rsa"),
        ([], [".ssh/config"], ".ssh/config", ".ssh .ssh/other .ssh/id_rsa"),
        ([], [".GIT/Config"], ".git/config", "sub/.git/config"),
        (["*.pub", "mine"], ["mine/open"], "mine/open mine/open/x", "id_rsa.pub mine mine/x"),
        (["keys"], ["*"], ".env keys .ssh/id_rsa", ""),
    ],
)
def test_deny_adds_to_the_default_and_allow_reopens(
    root: Path, deny: list[str], allow: list[str], opened: str, closed: str
) -> None:
    roots = Roots([str(root)], deny=deny, allow=allow)
    for path in opened.split():
        roots.locate(path)
    for path in closed.split():
        with pytest.raises(FileProblem, match="closed"):
            roots.locate(path)


def test_what_an_outer_root_closes_no_inner_root_opens(root: Path) -> None:
    (root / ".ssh").mkdir()
    roots = Roots([str(root), str(root / ".ssh")])
    with pytest.raises(FileProblem, match="closed"):
        roots.locate(f"{root}/.ssh/notes")
    Roots([str(root), str(root / ".ssh")], allow=[".ssh"]).locate(f"{root}/.ssh/notes")


def test_no_message_tells_the_name_of_a_closed_file(root: Path) -> None:
    (root / "id_rsa").write_text("secret")
    roots = Roots([str(root)])
    place = roots.locate("idrsa")
    with parent(place) as fd, pytest.raises(FileProblem) as caught:
        look(fd, place)
    assert caught.value.message == "'idrsa' does not exist."


SECRET = "-----BEGIN PRIVATE KEY-----"


@pytest.mark.parametrize("path", ["id_rsa", "ID_RSA", "link", "deep/.git/config", ".ssh/x", "./.ssh//x"])
async def test_no_tool_opens_or_changes_a_closed_file(root: Path, path: str) -> None:
    fill(root)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("info", {"path": path}),
        ("read", {"path": path}),
        ("read_binary", {"path": path}),
        ("list", {"path": path}),
        ("find", {"path": path, "pattern": "*"}),
        ("search", {"path": path, "text": "BEGIN"}),
        ("write", {"path": path, "content": "x", "mode": "overwrite"}),
        ("write", {"path": path, "content": "x", "mode": "append"}),
        ("edit", {"path": path, "old_text": "BEGIN", "new_text": "x"}),
        ("make_directory", {"path": path}),
        ("move", {"source": path, "destination": "open.txt"}),
        ("move", {"source": "plain.txt", "destination": path, "overwrite": True}),
        ("delete", {"path": path, "recursive": True}),
    ]
    async with connect(kit, config={"roots": [str(root)], "write": True}) as client:
        for tool, arguments in calls:
            text = (await client.call(tool, arguments)).text
            assert SECRET not in text
            assert path == "link" or "closed to these tools" in text
    for name in ("id_rsa", ".ssh/x", "deep/.git/config"):
        assert (root / name).read_text() == SECRET


async def test_no_list_or_search_shows_a_closed_file_and_its_directory_is_kept(root: Path) -> None:
    fill(root)
    walks: list[tuple[str, dict[str, Any]]] = [
        ("list", {"depth": 9, "hidden": True}),
        ("find", {"pattern": "**", "hidden": True}),
        ("find", {"pattern": "*rsa", "ignore_case": True}),
        ("search", {"text": "BEGIN", "hidden": True}),
        ("search", {"text": "BEGIN", "files": "*rsa", "resume": ":id_ecdsa"}),
    ]
    config = {"roots": [str(root)], "write": True, "ignore": [], "protect": []}
    async with connect(kit, config=config) as client:
        for tool, arguments in walks:
            text = (await client.call(tool, arguments)).text
            assert not any(name in text for name in ("id_rsa", ".ssh", "config", "BEGIN"))
        moved = await client.call("move", source="deep", destination="x")
        deleted = await client.call("delete", path="deep", recursive=True)
    assert all("contains entries that the host's settings close" in result.text for result in (moved, deleted))
    assert (root / "deep/.git/config").exists()


def fill(root: Path) -> None:
    """Put credentials, a link to them and a plain file below a root."""
    for path in ("id_rsa", "deep/.git/config", ".ssh/x"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(SECRET)
    (root / "link").symlink_to("id_rsa")
    (root / "plain.txt").write_text("plain")
