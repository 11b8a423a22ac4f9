"""The page about secrets: its code runs, its lists are what there is."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest

from pegboard import Host
from pegboard.config import HostConfig
from pegboard.loading.discovery import defaults, find_plugins
from pegboard.loading.plugin_facts import reserved_secrets
from pegboard.secrets.secret_lookup import RESERVED_PREFIXES
from tests.docs.pages import Page
from tests.host.hosting import value

PAGE = Page("docs/secrets.md")


async def test_the_tool_reads_its_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEATHER_KEY", "four")
    config = HostConfig.of({"host": {"autoload": False}}, defaults=defaults())
    async with Host(config, toolkits={"weather": PAGE.module("python kit").kit}) as host:
        text = await value(host, "weather_forecast", {"city": "Kiel"})
    assert text == "asked for Kiel with a key of 4 characters"


async def test_the_tool_knows_who_writes() -> None:
    settings = tomllib.loads(PAGE.blocks["toml metadata"])
    settings["host"] |= {"autoload": False, "secret_stores": []}
    async with Host(settings, toolkits={"letters": PAGE.module("python metadata").kit}) as host:
        assert await value(host, "letters_sender") == "ada <ada@example.com>"


def test_the_page_lists_every_store_in_the_default_order_and_every_reserved_name() -> None:
    shown = re.findall(r"^\| `(secrets_\w+)` \|", PAGE, re.M)
    names = {origin.name for origin in find_plugins().origins if origin.distribution == "pegboard"}
    assert sorted(shown) == sorted(name for name in names if name.startswith("secrets_"))
    assert tomllib.loads(PAGE.blocks["toml stores"])["host"]["secret_stores"] == defaults()["host"]["secret_stores"]
    assert all(f"`{name}`" in PAGE for name in (*reserved_secrets(), *RESERVED_PREFIXES))


def test_a_program_masks_what_its_handlers_write() -> None:
    """In a process of its own, whose logging is its own."""
    program = PAGE.blocks["python redact"] + (
        "from pegboard.secrets.redaction import Redactor\n"
        "known = Redactor()\n"
        "known.add('canary-of-the-page')\n"
        "logging.error('it is %s', 'canary-of-the-page')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == "ERROR:root:it is **********\n"
