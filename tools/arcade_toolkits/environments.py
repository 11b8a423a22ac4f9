"""The environments of the comparison."""

from __future__ import annotations

from pathlib import Path

from tests.support.arcade_site import make_arcade_site
from tools.comparison.environments import python_environment
from tools.install import ROOT

CACHE = ROOT / ".cache" / "toolkits"
HERE = Path(__file__).parent
OVERRIDES = HERE / "overrides.txt"
"""The file that lets uv install both generations together, without the framework."""
FOR_THE_FAKES = ("pysocks",)
"""The distributions that the toolkits' libraries need to use a proxy."""
GENERATIONS = ("new", "old")
SMALL = {"new": ["arcade_ledger", "arcade_tides"], "old": ["arcade_sums"]}
"""The toolkits of `tests/samples`, by the generation of their framework."""


def distributions(generation: str) -> list[str]:
    """Return the names of a generation's toolkits as their framework spells them, without its own distributions."""
    lines = (HERE / f"{generation}.txt").read_text("utf-8").splitlines()
    names = [line.partition("==")[0] for line in lines if line and not line.startswith("#")]
    toolkits = names[: names.index("arcade-serve")]
    return [*(name.replace("-", "_") for name in toolkits), *SMALL[generation]]


def python_of(environment: str) -> Path:
    """Return the interpreter of an environment: "pegboard", "new" or "old"."""
    return CACHE / f"venv-{environment}" / "bin" / "python"


def prepare() -> Path:
    """Install everything, unless an earlier run has, and return the folder of the small toolkits.

    Raises:
        InstallFailed: a step failed.
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    both = [part for generation in GENERATIONS for part in ("-r", str(_toolkits_file(generation)))]
    _install("pegboard", ["--override", str(OVERRIDES), *both, *FOR_THE_FAKES, "-e", str(ROOT)])
    for generation in GENERATIONS:
        _install(generation, ["-r", str(HERE / f"{generation}.txt"), *FOR_THE_FAKES])
    return make_arcade_site(CACHE / "site")


def _toolkits_file(generation: str) -> Path:
    """Write the requirements of a generation's toolkits without those of its framework."""
    lines = (HERE / f"{generation}.txt").read_text("utf-8").splitlines()
    kept = lines[: next(place for place, line in enumerate(lines) if line.startswith("arcade-serve"))]
    file = CACHE / f"{generation}-toolkits.txt"
    file.write_text("\n".join([*kept, ""]), "utf-8")
    return file


def _install(environment: str, arguments: list[str]) -> None:
    python_environment(CACHE / f"venv-{environment}", ["--compile-bytecode", *arguments])
