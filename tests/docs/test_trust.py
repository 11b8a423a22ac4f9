"""What docs/trust.md shows works as it says."""

from __future__ import annotations

from pegboard.config import HostConfig
from pegboard.config.widened_access import access_settings
from tests.docs.pages import Page

PAGE = Page("docs/trust.md")


def test_the_marked_settings_are_those_that_widen_access() -> None:
    module = PAGE.module("python widens")
    for given, keys in (({"send": True}, ["toolkits.mail.send"]), ({"send": False}, []), ({}, [])):
        config = HostConfig.of({"toolkits": {"mail": given}})
        assert [one.key for one in access_settings(config, {"toolkits": {"mail": module.MailConfig}})] == keys
