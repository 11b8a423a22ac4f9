"""The skills of a folder: their frontmatter, what is not served, and when a digest is computed."""

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from pegboard.plugin import ContentFolder
from pegboard.types import ToolkitInfo
from pegboard_plugins.protocols.skills.skill_files import MAX_BYTES, MAX_FILES, Skill, SkillReader, read_frontmatter


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
