"""Skills: their frontmatter and digests, what is not served, and over the wire in both eras."""

from __future__ import annotations

import base64
import os
import sys
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from pegboard import Host, Toolkit
from pegboard.plugin import ContentFolder, PluginError
from pegboard.types import Call, Caller, Change, MethodResult, Outcome, ToolkitInfo
from pegboard_plugins.auth.scopes import ScopesPlugin
from pegboard_plugins.protocols.skills import SKILLS_EXTENSION, SkillsPlugin
from pegboard_plugins.protocols.skills.skill_files import MAX_BYTES, MAX_FILES, Skill, SkillReader, read_frontmatter
from tests.host.hosting import make_host, until
from tests.support.distributions import make_distribution
from tests.support.mcp_client import NEWEST, TRANSPORTS, McpServer
from tests.support.rules import Added


def write_skill(folder: Path, name: str = "", description: str = "Refund.", **files: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = f"---\nname: {name or folder.name}\ndescription: {description}\n---\n"
    (folder / "SKILL.md").write_text(text)
    for stem, content in files.items():
        (folder / f"{stem}.md").write_bytes(content)
    return folder


def read(*folders: Path, toolkit: ToolkitInfo | None = None) -> tuple[dict[str, Skill], list[str]]:
    reader = SkillReader()
    skills = reader.read([ContentFolder("skills", str(folder), toolkit) for folder in folders])
    return skills, reader.problems


def test_an_entry_has_the_raw_bytes_of_all_files_also_of_nested_skills(tmp_path: Path) -> None:
    refunds = write_skill(tmp_path / "billing" / "refunds", crlf=b"a\r\n", binary=b"\xff\x00")
    (write_skill(refunds / "more" / "late") / "été b.md").write_bytes(b"x")
    skills, problems = read(tmp_path)
    root = "skill://billing/refunds"
    assert (list(skills), problems) == ([f"{root}/SKILL.md", f"{root}/more/late/SKILL.md"], [])
    files = [refunds / "SKILL.md", refunds / "binary.md", refunds / "crlf.md"]
    files += [refunds / "more/late/SKILL.md", refunds / "more/late/été b.md"]
    assert skills[f"{root}/SKILL.md"].entry() == {
        "uri": f"{root}/SKILL.md",
        "frontmatter": {"name": "refunds", "description": "Refund."},
        "resources": [
            {
                "uri": f"{root}/" + str(file.relative_to(refunds)).replace("été b", "%C3%A9t%C3%A9%20b"),
                "digest": f"sha256:{sha256(file.read_bytes()).hexdigest()}",
                "size": file.stat().st_size,
            }
            for file in files
        ],
    }


@pytest.mark.parametrize(
    ("toolkit", "uri"),
    [
        (None, "skill://refunds/SKILL.md"),
        (ToolkitInfo("bank"), "skill://bank/refunds/SKILL.md"),
        (ToolkitInfo("bank", prefix=False), "skill://refunds/SKILL.md"),
    ],
)
def test_a_folder_may_be_a_skill_itself(toolkit: ToolkitInfo | None, uri: str, tmp_path: Path) -> None:
    assert list(read(write_skill(tmp_path / "refunds"), toolkit=toolkit)[0]) == [uri]


@pytest.mark.parametrize(
    ("name", "description", "reason"),
    [
        ("other", "x", "its name is 'other'"),
        ("12", "x", "its name is 12"),
        ("a", '" "', "its description"),
        ("a", "[x]", "its description"),
        ("a", "x" * 1025, "its description"),
        ("a", "[", "not valid YAML"),
    ],
)
def test_a_skill_breaking_a_rule_disables_only_itself(name: str, description: str, reason: str, tmp_path: Path) -> None:
    write_skill(tmp_path / "a", name, description)
    write_skill(tmp_path / "b")
    skills, (problem,) = read(tmp_path)
    assert (list(skills), reason in problem) == (["skill://b/SKILL.md"], True)


@pytest.mark.parametrize("name", ["Upper", "-a", "a--b", "a_b", "a" * 65])
def test_names_follow_the_rules_of_agent_skills(name: str, tmp_path: Path) -> None:
    write_skill(tmp_path / name)
    assert read(tmp_path)[0] == {}


@pytest.mark.parametrize(("count", "size", "is_served"), [(511, 0, True), (512, 0, False), (1, MAX_BYTES, False)])
def test_limits_of_one_skill(count: int, size: int, is_served: bool, tmp_path: Path) -> None:
    folder = write_skill(tmp_path / "big")
    for number in range(count):
        with (folder / f"{number}.md").open("wb") as file:
            file.truncate(size)
    skills, problems = read(tmp_path)
    assert bool(skills) is is_served
    assert [f"at most {MAX_FILES}" in problem for problem in problems] == ([] if is_served else [True])


def test_links_and_hidden_files_are_not_served(tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("canary")
    folder = write_skill(tmp_path / "skills" / "a")
    (folder / ".env").write_text("canary")
    os.mkfifo(folder / "pipe")
    (folder / "link.md").symlink_to(secret)
    (tmp_path / "skills" / "b").symlink_to(write_skill(tmp_path / "b"))
    skills, problems = read(tmp_path / "skills")
    assert [list(skill.files) for skill in skills.values()] == [["SKILL.md"]]
    assert [problem.rpartition(": ")[2] for problem in problems] == ["a link is not followed"] * 2


def test_a_file_that_became_a_link_is_not_read(tmp_path: Path) -> None:
    folder = write_skill(tmp_path / "skills" / "a", x=b"same")
    outside = write_skill(tmp_path / "outside", x=b"same")
    (skill,), _ = (list(part) for part in read(tmp_path / "skills"))
    file = read(tmp_path / "skills")[0][skill].files["x.md"]
    assert file.read() == b"same"
    (folder / "x.md").unlink()
    (folder / "x.md").symlink_to(outside / "x.md")
    assert file.read() is None


def test_of_two_skills_with_one_uri_the_first_is_served(tmp_path: Path) -> None:
    first = write_skill(tmp_path / "1" / "a", description="first")
    write_skill(tmp_path / "2" / "a")
    skills, problems = read(first.parent, tmp_path / "2", tmp_path / "absent")
    assert [skill.frontmatter["description"] for skill in skills.values()] == ["first"]
    assert ["exists already" in problems[0], "No such file" in problems[1]] == [True, True]


def block(text: str) -> bytes:
    return f"---\n{text}\n---\n# Title\n".encode()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-01-02", "2026-01-02"),
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("0755", 755),
        ("0o755", 493),
        ("0x1f", 31),
        ("12:30:45", "12:30:45"),
        ("1_000", "1_000"),
        ("yes", "yes"),
        ("TRUE", True),
        ("~", None),
        ("", None),
        ("1.10", 1.1),
        ("1e3", 1000.0),
        ("1e999", "1e999"),
        (".nan", ".nan"),
        ("!!str 010", "010"),
        ('"2"', "2"),
        ("{on: [1, -2]}", {"on": [1, -2]}),
        ("{7: a, true: b, <<: c}", {"7": "a", "true": "b", "<<": "c"}),
        ("|\n  two\n  lines\n", "two\nlines\n"),
    ],
)
def test_a_value_is_what_its_author_wrote(text: str, value: Any) -> None:
    fields = read_frontmatter(block(f"x: {text}"))
    assert (fields, type(fields["x"])) == ({"x": value}, type(value))


def test_lines_may_end_with_a_carriage_return() -> None:
    assert read_frontmatter(b"---\r\nx: a\r\n---\r\nbody") == {"x": "a"}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"# Title", "must begin with frontmatter"),
        (b"\xef\xbb\xbf---\nx: a\n---\n", "must begin with frontmatter"),
        (b"---\nx: a\n", "must begin with frontmatter"),
        (b"---\n---\n", "no fields"),
        (b"---\nx: \xff\n---\n", "codec can't decode"),
        (block("- a"), "must have fields"),
        (block("x: [a"), "not valid YAML"),
        (block("x: &a [1]\ny: *a"), "an alias"),
        (block("x: 1\nx: 2"), "line 3 repeats a key"),
        (block("? [a]\n: b"), "not a text"),
        (block("x: !!python/object/apply:os.getcwd []"), "python/object"),
        (block("x: !!binary aGk="), "binary"),
        (block("x: !!map a"), "type tag:yaml.org,2002:map"),
        (block("x: " + "[" * 5000), "not valid YAML"),
        (block("x: " + "[" * 40 + "]" * 40), "more than 32 levels"),
        (block("x: " + "9" * 5000), "4300 digits"),
        (block("x: " + "a" * 70_000), "longer than"),
    ],
)
def test_what_is_no_frontmatter_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason.replace("[", r"\[")):
        read_frontmatter(content)


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
