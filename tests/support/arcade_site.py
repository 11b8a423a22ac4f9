"""The toolkits in `tests/samples/arcade_toolkits` as installed distributions of the Arcade system."""

from __future__ import annotations

from pathlib import Path

from tests.support.distributions import make_distribution

SAMPLES = Path(__file__).parent.parent / "samples" / "arcade_toolkits"
TOOLKITS = {
    "arcade_ledger": ("1.4.0", "Tools for a ledger", "arcade-mcp-server<2,>=1.17", "arcade-mcp[evals]; extra == 'dev'"),
    "arcade_sums": ("2.0.2", "", "arcade-tdk (<3.0.0,>=2.0.0)"),
    "arcade_tides": ("0.3.1", "Tides", "arcade_mcp_server>=1.17.0", "tides-library"),
    "tides-library": ("1.0", "A library", "arcade-mcp-server"),
}
"""The version, the summary and the requirements of each distribution."""


def make_arcade_site(site: Path) -> Path:
    """Write the distributions into a folder."""
    for name, (version, summary, *requirements) in TOOLKITS.items():
        folder = SAMPLES / name.replace("-", "_")
        files = {str(file.relative_to(SAMPLES)): file.read_text("utf-8") for file in sorted(folder.rglob("*.py"))}
        lines = [*([f"Summary: {summary}"] if summary else ()), *(f"Requires-Dist: {text}" for text in requirements)]
        head = "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        make_distribution(site, name, version, {}, files, metadata=head + "\n".join((*lines, "")))
    return site
