"""The plugins of pydantic, which it loads when it builds the first model of a process."""

from __future__ import annotations

from contextlib import suppress


def load_pydantic_plugins() -> None:
    """Let pydantic load its plugins, so that no model fails if a distribution is damaged.

    Pydantic reads the entry points of all distributions together. If one is damaged, the first model fails, and later
    models are built without plugins.
    """
    from pydantic import TypeAdapter

    with suppress(Exception):
        TypeAdapter(int)
