"""The settings: what a base URL may be, and what an operator is told of one that is not."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from pegboard import Host
from pegboard.plugin import ConfigError, PluginError
from toolkit_github import GithubConfig


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://api.github.com", "https://api.github.com"),
        ("https://github.example.com/api/v3/", "https://github.example.com/api/v3"),
        ("https://api.octo.ghe.com", "https://api.octo.ghe.com"),
        ("https://github.example.com:8443/api/v3", "https://github.example.com:8443/api/v3"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://localhost/api/v3", "http://localhost/api/v3"),
        ("http://[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_base_urls(url: str, kept: str) -> None:
    assert GithubConfig(base_url=url).base_url == kept


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://github.example.com/api/v3", "must begin with https"),
        ("http://127.0.0.1.evil.example", "must begin with https"),
        ("http://localhost.evil.example", "must begin with https"),
        ("ftp://github.example.com", "must begin with https"),
        ("github.example.com/api/v3", "not a valid URL|no valid host"),
        ("https://", "not a valid URL|no valid host"),
        ("https:///api/v3", "not a valid URL|no valid host"),
        ("", "not a valid URL|no valid host"),
        ("https://[broken/api", "not a valid URL|no valid host"),
        ("https://github.example.com:99999/", "not a valid URL|no valid host"),
        ("https://github.example.com:0/", "not a valid URL|no valid host"),
        ("https://git hub.example.com", "not a valid URL|no valid host"),
        ("https://github.example.com/a\nb", "not a valid URL|no valid host"),
        ("https://github.example.com\\@evil", "not a valid URL|no valid host"),
        ("https://github.example.com/%2e%2e", "not a valid URL|no valid host"),
        ("https://g\u0131thub.example.com", "not a valid URL|no valid host"),
        ("https://user:secret@github.example.com", "must not have a user"),
        ("https://@github.example.com", "must not have a user"),
        ("https://github.example.com/api/v3?x=1", "must not have a user, password, query"),
        ("https://github.example.com/api/v3#x", "must not have a user, password, query"),
        ("https://github.example.com/api/../v3", "path contains"),
        ("https://github.example.com//api", "path contains"),
        ("https://github.com", "this is the web site"),
        ("https://www.github.com/", "this is the web site"),
    ],
)
def test_base_urls_that_are_refused(url: str, why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        GithubConfig(base_url=url)


@pytest.mark.parametrize(
    "settings",
    [
        {"timeout_seconds": 0},
        {"timeout_seconds": 601},
        {"max_answer_bytes": 1},
        {"max_file_bytes": 1 << 30},
        {"max_log_bytes": 1},
        {"cache_bytes": -1},
        {"token": "x"},
    ],
)
def test_other_settings_that_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        GithubConfig.model_validate(settings)


async def test_a_wrong_setting_keeps_the_host_from_starting_and_names_itself() -> None:
    config = {"host": {"autoload": False}, "toolkits": {"github": {"base_url": "http://github.example.com"}}}
    with pytest.raises((ConfigError, PluginError), match="base_url"):
        async with Host(config):
            pass


def test_the_defaults_only_read() -> None:
    assert GithubConfig().write is False
    assert GithubConfig().base_url == "https://api.github.com"
