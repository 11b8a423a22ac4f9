"""What the wheels hold: all of our packages, their data and entry points, and nothing that belongs to the checkout."""

from __future__ import annotations

import configparser
import email
import tarfile
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.support.environments import build, built_wheels, copy_checkout
from tools.install import ROOT

TOOLKITS = ("files", "github", "math")
BESIDE_THE_HOST = ("pegboard_client", "pegboard_evals", "pegboard_messages", "pegboard_plugins", "pegboard_testing")
PACKAGES = {
    "pegboard": {"pegboard": ROOT / "host/pegboard", **{name: ROOT / "plugins" / name for name in BESIDE_THE_HOST}},
    **{f"toolkit_{name}": {f"toolkit_{name}": ROOT / f"toolkits/{name}/src/toolkit_{name}"} for name in TOOLKITS},
}
FOLDERS = {"pegboard": ROOT, **{f"toolkit_{name}": ROOT / "toolkits" / name for name in TOOLKITS}}
OF_THE_CHECKOUT = {"host", "plugins", "toolkits", "tests", "benchmarks", "examples", "tools", "src"}


def wheel(name: str) -> Path:
    (file,) = built_wheels().glob(f"{name}-*.whl")
    return file


def contents(file: Path) -> dict[str, bytes]:
    with ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def metadata(name: str, part: str) -> str:
    (text,) = [data for path, data in contents(wheel(name)).items() if path.endswith(f".dist-info/{part}")]
    return text.decode()


def sources(name: str) -> dict[str, bytes]:
    return {
        f"{package}/{path.relative_to(folder)}": path.read_bytes()
        for package, folder in PACKAGES[name].items()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


@pytest.mark.parametrize("name", PACKAGES)
def test_wheel_holds_the_packages_as_they_are_in_the_checkout_and_nothing_else(name: str) -> None:
    packed = {path: data for path, data in contents(wheel(name)).items() if ".dist-info/" not in path}
    assert packed.keys() == sources(name).keys()
    assert packed == sources(name)
    assert {path.split("/")[0] for path in packed} == PACKAGES[name].keys()


@pytest.mark.parametrize("name", ["pegboard", "toolkit_files"])
def test_wheel_is_pure_typed_and_reproducible(name: str, tmp_path: Path) -> None:
    again = build(FOLDERS[name], tmp_path)
    assert again.name.endswith("-py3-none-any.whl")
    assert again.read_bytes() == wheel(name).read_bytes()
    assert {f"{package}/py.typed" for package in PACKAGES[name]} <= contents(again).keys()


@pytest.mark.parametrize("name", ["pegboard", "toolkit_files"])
def test_wheel_of_the_sdist_is_the_same_and_has_no_folder_of_the_checkout(name: str, tmp_path: Path) -> None:
    """Even if such a folder became a package, with an `__init__.py`."""
    checkout = copy_checkout(tmp_path / "checkout")
    folder = checkout / FOLDERS[name].relative_to(ROOT)
    for place in OF_THE_CHECKOUT:
        (folder / place).mkdir(exist_ok=True)
        (folder / place / "__init__.py").touch()
    direct = build(folder, tmp_path / "direct")
    sdist = build(folder, tmp_path / "sdist", target="sdist")
    with tarfile.open(sdist) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.4 and newer have filters
        archive.extractall(tmp_path)
    rebuilt = build(tmp_path / sdist.name.removesuffix(".tar.gz"), tmp_path / "rebuilt")
    assert contents(direct).keys() == contents(rebuilt).keys() == contents(wheel(name)).keys()
    assert {path.split("/")[0] for path in contents(rebuilt)} & OF_THE_CHECKOUT == set()
    unchanged = {path: data for path, data in contents(rebuilt).items() if not path.endswith("RECORD")}
    assert unchanged.items() <= contents(wheel(name)).items()


@pytest.mark.parametrize("name", FOLDERS)
def test_entry_points_are_those_of_the_project(name: str) -> None:
    parser = configparser.ConfigParser()
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # the documented way to keep the case
    parser.read_string(metadata(name, "entry_points.txt"))
    project = tomllib.loads((FOLDERS[name] / "pyproject.toml").read_text("utf-8"))["project"]
    scripts = {"console_scripts": project["scripts"]} if "scripts" in project else {}
    assert {section: dict(parser[section]) for section in parser.sections()} == {**scripts, **project["entry-points"]}


@pytest.mark.parametrize("name", PACKAGES)
def test_metadata_has_the_claims_of_the_project(name: str) -> None:
    read = email.message_from_string(metadata(name, "METADATA"))
    project = tomllib.loads((FOLDERS[name] / "pyproject.toml").read_text())["project"]
    versions = [line.rsplit(" :: ")[-1] for line in read.get_all("Classifier", []) if ":: Python :: 3." in line]
    assert read["Name"] == project["name"]
    assert read["Requires-Python"] == ">=3.11"
    assert read["License-Expression"] == "MIT"
    assert versions == ["3.11", "3.12", "3.13", "3.14"]
    extras = [line for lines in project.get("optional-dependencies", {}).values() for line in lines]
    assert len(read.get_all("Requires-Dist", [])) == len(project["dependencies"]) + len(extras)
    assert any(path.endswith(".dist-info/licenses/LICENSE") for path in contents(wheel(name)))
