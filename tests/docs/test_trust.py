"""What docs/trust.md shows works as it says."""

from __future__ import annotations

import re
from typing import Any

from pegboard.config import HostConfig
from pegboard.config.widened_access import access_settings
from tools.install import ROOT

PAGE = (ROOT / "docs" / "trust.md").read_text("utf-8")


def test_the_marked_settings_are_those_that_widen_access() -> None:
    (code,) = re.findall(r"^```python widens\n(.*?)^```$", PAGE, re.M | re.S)
    module: dict[str, Any] = {}
    exec(compile(code, "widens.py", "exec", dont_inherit=True), module)
    for given, keys in (({"send": True}, ["toolkits.mail.send"]), ({"send": False}, []), ({}, [])):
        config = HostConfig.of({"toolkits": {"mail": given}})
        assert [one.key for one in access_settings(config, {"toolkits": {"mail": module["MailConfig"]}})] == keys
