"""Workflows and base images: others cannot change what they run, and they keep no credentials."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.install import ROOT, UV_REQUIREMENT
from tools.interpreters import EXPECTED, shown

WORKFLOWS = sorted((ROOT / ".github" / "workflows").iterdir())
SCAFFOLD = ROOT / "plugins/pegboard_plugins/authoring/new/templates/workflow.txt"
IMAGES = [ROOT / "deploy/Containerfile", ROOT / "deploy/compose.yaml"]


@pytest.mark.parametrize("file", [*WORKFLOWS, SCAFFOLD], ids=lambda file: file.name)
def test_actions_are_named_by_commit_and_no_credentials_are_kept(file: Path) -> None:
    text = file.read_text("utf-8")
    steps = re.findall(r"uses: (.*)", text)
    assert [step for step in steps if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", step)] == []
    checkouts = re.findall(r"uses: actions/checkout@.*\n( +with:\n +persist-credentials: false\n)?", text)
    assert all(checkouts)
    assert len({step.partition("@")[0] for step in steps}) == len(set(steps)), "each action has one version"
    assert re.search(r"^permissions:( \{\}|\n  contents: read)$", text, flags=re.MULTILINE)


def test_images_are_named_by_digest() -> None:
    texts = [file.read_text("utf-8") for file in IMAGES]
    images = [image for text in texts for image in re.findall(r"^(?:FROM| +image:) (\S+)", text, flags=re.MULTILINE)]
    assert len(images) == 3
    assert [image for image in images if not re.fullmatch(r"[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}", image)] == []
    assert len(set(images)) == 2, "each stage has the same image"


def test_the_workflows_test_each_python_with_the_uv_of_make_install() -> None:
    text = "".join(file.read_text("utf-8") for file in WORKFLOWS)
    (versions,) = re.findall(r"python: \[(.*)\]", text)
    assert re.findall(r"[\d.]+", versions) == ["3.11.2", *map(shown, EXPECTED)]
    setups = re.findall(r"setup-uv@.*\n +with:\n +version: \"(.*)\"", text)
    assert set(setups) == {UV_REQUIREMENT.removeprefix("uv==")}
    assert len(setups) == text.count("setup-uv@")


def test_dependencies_are_audited_and_a_tag_is_checked_before_it_is_built() -> None:
    audit, release = ((ROOT / ".github/workflows" / name).read_text("utf-8") for name in ("audit.yml", "release.yml"))
    assert re.search(r"uvx pip-audit==[\d.]+ .*--require-hashes --requirement requirements-dev.txt", audit)
    assert "schedule:" in audit
    assert re.search(r'tools\.release --check "\$GITHUB_REF_NAME"\n +- run: make test build', release)
