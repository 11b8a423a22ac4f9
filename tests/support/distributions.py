"""Distributions in a folder of the module path: a host finds them without an installer.

`environments.py` makes wheels and environments.
"""

from __future__ import annotations

import base64
import hashlib
import tomllib
from collections.abc import Mapping
from pathlib import Path

METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: made by a test\n"


def make_distribution(
    site: Path,
    name: str,
    version: str,
    entry_points: Mapping[str, Mapping[str, str]],
    files: Mapping[str, str],
    metadata: str = METADATA,
) -> Path:
    """Write a distribution into a folder, with its modules and metadata, as an installer does.

    Args:
        site: the folder, which is on the path of the process; one can hold many distributions.
        name: the distribution's name.
        version: its version.
        entry_points: group -> name -> target, such as {"pegboard.toolkits": {"demo": "demo_kit:kit"}}.
        files: path below `site` -> text.
        metadata: the text of its metadata.

    Returns:
        The folder of its metadata. Removing it uninstalls the distribution.
    """
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    written = {site / path: text for path, text in files.items()}
    written[info / "METADATA"] = metadata.format(name=name, version=version)
    written[info / "INSTALLER"] = "tests\n"
    written[info / "entry_points.txt"] = "\n".join(
        f"[{group}]\n" + "".join(f"{key} = {target}\n" for key, target in entries.items())
        for group, entries in entry_points.items()
    )
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    record = "".join(f"{path.relative_to(site)},{_digest(text)}\n" for path, text in written.items())
    (info / "RECORD").write_text(f"{record}{info.name}/RECORD,,\n", encoding="utf-8")
    return info


def make_sample_site(site: Path, name: str) -> Path:
    """Write a distribution of `tests/samples` into a folder."""
    folder = Path(__file__).parent.parent / "samples" / name
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    paths = [*folder.rglob("*.py"), *folder.glob("*/pegboard_plugin.toml")]
    files = {str(path.relative_to(folder)): path.read_text("utf-8") for path in paths}
    make_distribution(site, project["name"], project["version"], project["entry-points"], files)
    return site


def _digest(text: str) -> str:
    data = text.encode()
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"sha256={digest},{len(data)}"
