"""The settings: valid and invalid base URLs, limits, and the defaults."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from pegboard import Host, MCPError
from toolkit_github import GithubConfig


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("https://github.example.com/api/v3/", "https://github.example.com/api/v3"),
        ("https://github.example.com:8443/api/v3", "https://github.example.com:8443/api/v3"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://localhost/api/v3", "http://localhost/api/v3"),
        ("http://[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_valid_base_urls(url: str, base: str) -> None:
    assert GithubConfig(base_url=url).base_url == base


@pytest.mark.parametrize(
    ("message", "urls"),
    [
        (
            "must begin with https",
            ["http://github.example.com", "http://127.0.0.1.evil.example", "ftp://github.example.com"],
        ),
        (
            "not a valid URL|no valid host",
            [
                "", "github.example.com/api/v3", "https://", "https:///api/v3", "https://[broken/api",
                "https://github.example.com:99999/", "https://github.example.com:0/", "https://github.example.com\\@evil",
                "https://github.example.com/%2e%2e", "https://g\u0131thub.example.com", "https://git hub.example.com",
                "https://github.example.com/a\nb",
            ],
        ),
        (
            "must not have a user, password, query",
            [
                "https://user:secret@github.example.com", "https://@github.example.com",
                "https://github.example.com/api/v3?x=1", "https://github.example.com/api/v3#x",
            ],
        ),
        ("its path contains", ["https://github.example.com/api/../v3", "https://github.example.com//api"]),
        ("this is the web site", ["https://github.com", "https://www.github.com/"]),
    ],
)  # fmt: skip
def test_invalid_base_urls(message: str, urls: list[str]) -> None:
    for url in urls:
        with pytest.raises(ValidationError, match=message):
            GithubConfig(base_url=url)


@pytest.mark.parametrize("settings", [{"timeout_seconds": 601}, {"max_file_bytes": 1 << 30}, {"token": "x"}])
def test_limits_have_bounds_and_the_token_is_not_a_setting(settings: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        GithubConfig.model_validate(settings)


async def test_an_invalid_setting_stops_the_start_and_is_named() -> None:
    config = {"host": {"autoload": False}, "toolkits": {"github": {"base_url": "http://github.example.com"}}}
    with pytest.raises(MCPError, match="base_url"):
        async with Host(config):
            pass


def test_the_defaults_only_read() -> None:
    assert GithubConfig().write is False
    assert GithubConfig().base_url == "https://api.github.com"
