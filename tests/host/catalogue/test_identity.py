"""The identity of a host, from its configuration."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Host, Icon
from pegboard.plugin import ConfigError
from pegboard.types import Identity

MOON = {"src": "data:image/png;base64,AA==", "mime_type": "image/png", "sizes": ["48x48", "any"], "theme": "dark"}


def test_the_configuration_defines_the_identity() -> None:
    texts = {
        "name": "n",
        "version": "1",
        "title": "N",
        "description": "d",
        "instructions": "i",
        "website_url": "https://x",
    }
    moon = Icon("data:image/png;base64,AA==", "image/png", ["48x48", "any"], "dark")
    host = Host({"host": {**texts, "icons": ["https://x.example/i", MOON]}})
    assert host.identity == Identity(**texts, icons=(Icon("https://x.example/i"), moon))


@pytest.mark.parametrize(
    ("icon", "why"),
    [
        (3, "expected an address or a table"),
        ("file:///icon.png", "expected a src that begins with"),
        ({"sizes": ["48x48"]}, "expected a src that begins with"),
        ({**MOON, "url": "x"}, 'unknown member "url"; use src, mime_type, sizes, theme'),
        ({**MOON, "sizes": "48x48"}, "expected sizes such as"),
        ({**MOON, "sizes": [48]}, "expected sizes such as"),
        ({**MOON, "theme": "blue"}, '"light" or "dark"'),
        ({**MOON, "mime_type": 1}, "expected a mime_type"),
    ],
)
def test_an_invalid_icon_is_refused(icon: Any, why: str) -> None:
    with pytest.raises(ConfigError, match="icon 2: ") as caught:
        Host({"host": {"icons": ["https://x.example/i", icon]}})
    assert why in str(caught.value)
