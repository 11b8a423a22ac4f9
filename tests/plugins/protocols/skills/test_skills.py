"""Skills over the wire in both eras: lists, entries, files, directories, and announced changes."""

import base64
import sys
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from pegboard import Host, Toolkit
from pegboard.plugin import PluginError
from pegboard.types import Call, Caller, Change, MethodResult, Outcome
from pegboard_plugins.auth.scopes import ScopesPlugin
from pegboard_plugins.protocols.skills import SKILLS_EXTENSION, SkillsPlugin
from tests.host.hosting import make_host, until
from tests.plugins.protocols.skills.test_skill_files import write_skill
from tests.support.distributions import make_distribution
from tests.support.mcp_client import NEWEST, TRANSPORTS, McpServer
from tests.support.rules import Added

ENTRY = {
    "type": "object",
    "properties": {
        "uri": {"type": "string"},
        "frontmatter": {"type": "object", "required": ["name", "description"]},
        "resources": {"type": "array", "items": {"type": "object", "required": ["uri", "digest", "size"]}},
    },
    "required": ["uri", "frontmatter", "resources"],
}
CACHED = ["ttlMs", "cacheScope"]
ADDED = Added(
    results={
        "skills/list": {"properties": {"skills": {"type": "array", "items": ENTRY}}, "required": ["skills", *CACHED]},
        "skills/get": {"properties": {"skill": ENTRY}, "required": ["skill", *CACHED]},
        "resources/directory/read": {"properties": {"resources": {"type": "array"}}, "required": ["resources"]},
    }
)
ROOT = "skill://bank/refunds"
KIT = 'from pegboard import Toolkit\n\nkit = Toolkit("bank", skills="skills")\n'


def make_bank(site: Path) -> Path:
    """Write a toolkit with a skill into a folder, and return the folder of the skill."""
    make_distribution(site, "bank-kit", "1.0", {"pegboard.toolkits": {"bank": "bank_kit:kit"}}, {"bank_kit.py": KIT})
    refunds = write_skill(site / "skills" / "refunds", crlf=b"a\r\n\xef\xbb\xbfb", binary=b"\xff")
    write_skill(refunds / "sub dir" / "late")
    return refunds


@pytest.mark.parametrize("revision", NEWEST)
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_client_reads_a_skill_and_verifies_its_bytes(transport: str, revision: str, tmp_path: Path) -> None:
    refunds = make_bank(tmp_path)
    async with McpServer(transport, tmp_path, added=ADDED) as server:
        client = await server.client(revision)
        capabilities = (await client.server())["capabilities"]
        assert capabilities["extensions"][SKILLS_EXTENSION] == {"directoryRead": True}
        assert "resources" in capabilities
        listed = await client.result("skills/list")
        (entry, late) = listed["skills"]
        assert late["uri"] == f"{ROOT}/sub%20dir/late/SKILL.md"
        assert (listed["ttlMs"], listed["cacheScope"]) == (300_000, "public")
        assert (await client.result("skills/get", {"uri": entry["uri"]}))["skill"] == entry
        for file in entry["resources"]:
            ((part),) = (await client.result("resources/read", {"uri": file["uri"]}))["contents"]
            content = part["text"].encode() if "text" in part else base64.b64decode(part["blob"])
            digest = f"sha256:{sha256(content).hexdigest()}"
            assert (part["uri"], part["mimeType"]) == (file["uri"], "text/markdown")
            assert (digest, len(content)) == (file["digest"], file["size"])
        assert len(entry["resources"]) == len([path for path in refunds.rglob("*") if path.is_file()])
        resources = (await client.result("resources/list"))["resources"]
        (resource,) = [item for item in resources if item["uri"] == entry["uri"]]
        children = (await client.result("resources/directory/read", {"uri": ROOT}))["resources"]
        assert [child["name"] for child in children] == ["refunds", "binary.md", "crlf.md", "sub dir"]
        assert children[0] == {key: resource[key] for key in children[0]}
        assert children[3] == {"uri": f"{ROOT}/sub%20dir", "name": "sub dir", "mimeType": "inode/directory"}
        for method, uri in [
            ("skills/get", f"{ROOT}/binary.md"),
            ("skills/get", None),
            ("resources/directory/read", entry["uri"]),
            ("resources/directory/read", f"{ROOT}/"),
            ("resources/directory/read", "file:///etc"),
        ]:
            assert (await client.error(method, {"uri": uri}))["code"] == -32602
        unknown = await client.error("resources/read", {"uri": f"{ROOT}/../../../etc/passwd"})
        assert unknown["code"] in (-32602, -32002)


async def test_a_change_is_announced_and_a_new_digest_read(tmp_path: Path) -> None:
    refunds = make_bank(tmp_path)
    async with McpServer("stdio", tmp_path, added=ADDED) as server:
        client = await server.client(NEWEST[0])
        uri = f"{ROOT}/SKILL.md"
        before = (await client.result("skills/get", {"uri": uri}))["skill"]
        (refunds / "crlf.md").write_bytes(b"changed")
        (refunds / "new.md").write_bytes(b"new")
        stream = await client.listen()
        assert (await stream.next())["method"] == "notifications/resources/list_changed"
        after = (await client.result("skills/get", {"uri": uri}))["skill"]
        digests = {file["uri"]: file["digest"] for file in after["resources"]}
        assert digests.keys() - {file["uri"] for file in before["resources"]} == {f"{ROOT}/new.md"}
        assert digests[f"{ROOT}/crlf.md"] == f"sha256:{sha256(b'changed').hexdigest()}"


# --- in the process


def hosted(*kits: Toolkit, **settings: Any) -> Host:
    return make_host(*kits, plugins={"instructions": SkillsPlugin}, config={"plugins": {"instructions": settings}})


async def ask(host: Host, method: str, **params: Any) -> Outcome:
    return await host.dispatch(Call(method, params))


async def value_of(host: Host, method: str, **params: Any) -> Any:
    outcome = await ask(host, method, **params)
    assert isinstance(outcome, MethodResult), outcome
    return outcome.value


async def test_pages_continue_after_their_last_uri(tmp_path: Path) -> None:
    for name in "abc":
        write_skill(tmp_path / name)
    async with hosted(folders=[str(tmp_path)], page_size=2, ttl_ms=7) as host:
        first = await value_of(host, "skills/list")
        second = await value_of(host, "skills/list", cursor=first["nextCursor"])
        names = [[skill["frontmatter"]["name"] for skill in page["skills"]] for page in (first, second)]
        assert (names, "nextCursor" in second, second["ttlMs"]) == ([["a", "b"], ["c"]], False, 7)
        for cursor in (7, "x", base64.b64encode(b"other skill://a").decode()):
            assert "cursors" in str(await ask(host, "skills/list", cursor=cursor))


async def test_a_file_that_changes_before_a_read_has_its_new_digest_afterwards(tmp_path: Path) -> None:
    folder = write_skill(tmp_path / "a", x=b"old")
    async with hosted(folders=[str(tmp_path)]) as host:
        (folder / "x.md").write_bytes(b"new")
        assert "content='new'" in str(await ask(host, "resources/read", uri="skill://a/x.md"))
        (entry,) = (await value_of(host, "skills/list"))["skills"]
        assert entry["resources"][1]["digest"] == f"sha256:{sha256(b'new').hexdigest()}"


async def test_only_skills_that_a_client_can_use_are_listed(tmp_path: Path) -> None:
    write_skill(tmp_path / "a")
    write_skill(tmp_path / "b")
    async with hosted(folders=[str(tmp_path)]) as host:
        outcome = await host.dispatch(
            Call("skills/list", serves=lambda *item: item == ("resources", "skill://b/SKILL.md"))
        )
        assert isinstance(outcome, MethodResult)
        assert [skill["uri"] for skill in outcome.value["skills"]] == ["skill://b/SKILL.md"]


async def test_skills_that_a_caller_may_not_read_are_not_told(tmp_path: Path) -> None:
    for name in "ab":
        write_skill(tmp_path / name)
    settings = {"instructions": {"folders": [str(tmp_path)]}, "gate": {"resources": {"skill://b/*": "b"}}}
    plugins = {"instructions": SkillsPlugin, "gate": ScopesPlugin}
    async with make_host(plugins=plugins, config={"plugins": settings}) as host:
        for scopes, names in (("", ["a"]), ("b", ["a", "b"])):
            ask_as = partial(Call, caller=Caller("ann", scopes=frozenset(scopes)))
            told = await host.dispatch(ask_as("skills/list"))
            assert isinstance(told, MethodResult)
            assert [skill["frontmatter"]["name"] for skill in told.value["skills"]] == names
            assert told.value["cacheScope"] == "private"
            for method, uri in (("skills/get", "skill://b/SKILL.md"), ("resources/directory/read", "skill://b")):
                entry = await host.dispatch(ask_as(method, {"uri": uri}))
                assert isinstance(entry, MethodResult) is ("b" in names)


async def test_a_removed_skill_is_announced_and_not_served(tmp_path: Path) -> None:
    folder = write_skill(tmp_path / "a", x=b"x")
    async with hosted(folders=[str(tmp_path)]) as host:
        changes: list[Change] = []
        host.watch(changes.append)
        (folder / "SKILL.md").unlink()
        assert (await value_of(host, "skills/list"))["skills"] == []
        assert "skill://a" not in str(list(host.assembly.resources))
        await until(lambda: Change("resources") in changes)


@pytest.mark.parametrize("has_folder", [False, True])
async def test_the_extension_is_advertised_with_skills_or_folders(has_folder: bool, tmp_path: Path) -> None:
    async with hosted(folders=[str(tmp_path)] if has_folder else []) as host:
        assert (SKILLS_EXTENSION in host.assembly.contributed.extensions) is has_folder


async def test_without_pyyaml_the_fix_is_stated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(PluginError, match="skills need PyYAML, which is not installed"):
        await hosted(folders=[str(tmp_path)]).start()
