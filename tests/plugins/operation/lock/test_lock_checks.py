"""`pegboard doctor` reports a lock that others can change, also without the plugin."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.command_line import Command


def findings_of(pegboard: Command, *options: str) -> list[dict[str, Any]]:
    """Return the findings of the check."""
    done = pegboard("doctor", "--json", *options, env={"XDG_STATE_HOME": str(pegboard.folder / "state")})
    return [finding for finding in done.data["findings"] if finding["check"] == "lock file"]


@pytest.mark.needs("doctor")
@pytest.mark.parametrize("section", ["", "[plugins.lock]"])
def test_a_lock_that_others_can_change_is_reported_once_and_not_fixed(section: str, pegboard: Command) -> None:
    pegboard.configure(sections=section)
    pegboard("lock")
    assert findings_of(pegboard) == []
    file = pegboard.folder / "pegboard.lock"
    file.chmod(0o666)
    (finding,) = findings_of(pegboard, "--fix")
    assert (finding["level"], finding["message"]) == ("error", f"{file} is refused because other users can write it")
    assert file.stat().st_mode & 0o777 == 0o666


def test_why_names_a_lock_that_cannot_be_read(pegboard: Command) -> None:
    pegboard.configure(sections='[plugins.upstreams.servers.far]\ncommand = "/none/server"')
    file = pegboard.write("{", "pegboard.lock")
    assert pegboard("why", "far_tool").out.startswith(f"{file} is not JSON: ")
