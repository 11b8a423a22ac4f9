"""How a host introduces itself: what the configuration says of the server, checked."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Host, Icon
from pegboard.plugin import ConfigError

MOON = {"src": "data:image/png;base64,AA==", "mime_type": "image/png", "sizes": ["48x48", "any"], "theme": "dark"}


def test_everything_that_a_host_may_say_of_itself() -> None:
    said = {"name": "n", "version": "1", "title": "N", "description": "d", "instructions": "i"}
    identity = Host(
        {"host": {**said, "website_url": "https://x.example", "icons": ["https://x.example/i", MOON]}}
    ).identity
    assert (identity.description, identity.website_url) == ("d", "https://x.example")
    assert identity.icons == (
        Icon("https://x.example/i"),
        Icon("data:image/png;base64,AA==", "image/png", ["48x48", "any"], "dark"),
    )


@pytest.mark.parametrize(
    ("icon", "why"),
    [
        (3, "expected an address or a table"),
        ("icon.png", "expected a src that begins with"),
        ("file:///icon.png", "expected a src that begins with"),
        ({"sizes": ["48x48"]}, "expected a src that begins with"),
        ({**MOON, "url": "x"}, '"url" is none of src, mime_type, sizes, theme'),
        ({**MOON, "sizes": "48x48"}, "expected sizes such as"),
        ({**MOON, "sizes": [48]}, "expected sizes such as"),
        ({**MOON, "theme": "blue"}, '"light" or "dark"'),
        ({**MOON, "mime_type": 1}, "expected a mime_type"),
    ],
)
def test_an_icon_that_clients_could_not_show_is_refused(icon: Any, why: str) -> None:
    with pytest.raises(ConfigError, match="icon 2: ") as caught:
        Host({"host": {"icons": ["https://x.example/i", icon]}})
    assert why in str(caught.value)
