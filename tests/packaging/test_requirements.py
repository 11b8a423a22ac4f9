"""The exported requirements are the lock's, the lock is the projects', and neither names a machine's own index."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable

import pytest

from tools.install import REQUIREMENTS, ROOT
from tools.lowest import lowest
from tools.requirements import check, differences, pins_of_lock, pins_of_requirements

LOCK = ROOT / "uv.lock"


def test_lock_and_requirements_are_equal_and_current() -> None:
    assert check() == []


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda text: re.sub(r"^pluggy==.*\n(    .*\n)+", "", text, flags=re.MULTILINE), id="missing"),
        pytest.param(lambda text: text.replace("pluggy==", "pluggy==0."), id="version"),
        pytest.param(lambda text: re.sub(r"(pluggy==.*\n.*sha256:)\w", r"\1x", text), id="hash"),
        pytest.param(lambda text: text + "pluggy-extra==1.0 \\\n    --hash=sha256:00\n", id="surplus"),
    ],
)
def test_a_difference_is_found(change: Callable[[str], str]) -> None:
    lock, text = pins_of_lock(LOCK.read_text()), REQUIREMENTS.read_text()
    lines = differences(lock, pins_of_requirements(change(text)))
    assert lines
    assert all(line.startswith("pluggy") for line in lines)


def test_locked_packages_come_from_the_public_index_or_the_checkout() -> None:
    packages = tomllib.loads(LOCK.read_text())["package"]
    sources = {str(package["source"]) for package in packages if "editable" not in package["source"]}
    editable = {package["source"]["editable"] for package in packages if "editable" in package["source"]}
    assert sources == {"{'registry': 'https://pypi.org/simple'}"}
    assert editable == {".", *(str(path.parent.relative_to(ROOT)) for path in ROOT.glob("toolkits/*/pyproject.toml"))}
    assert set(re.findall(r'url = "(\w+://[^/"]*)', LOCK.read_text())) == {"https://files.pythonhosted.org"}
    lines = [line for line in REQUIREMENTS.read_text().splitlines() if not line.startswith("    --hash=sha256:")]
    assert [line for line in lines if re.search(r"--|://", line)] == []
    names = [name for name, _ in pins_of_requirements(REQUIREMENTS.read_text())]
    assert [name for name in names if name.startswith(("pegboard", "toolkit-"))] == []


def test_the_lowest_versions_are_exact_and_without_known_vulnerabilities() -> None:
    """PyJWT 2.10.0 compares issuers by substring (CVE-2024-53861), cryptography 44.0.0 has an old OpenSSL."""
    pinned = lowest()
    assert all(re.fullmatch(r"[a-z-]+==[0-9.]+", requirement) for requirement in pinned)
    assert {"pyjwt==2.10.1", "cryptography==44.0.1"} <= set(pinned)
