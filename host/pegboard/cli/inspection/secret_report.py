"""The secrets that each plugin and toolkit receives, for `pegboard plugins` and `why`. Values are not shown."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from pegboard.authorization.providers import token_secrets
from pegboard.catalogue.pages import needs_of
from pegboard.config.references import references
from pegboard.hookspecs import register_token_sources
from pegboard.host import Host
from pegboard.loading.plugin_facts import reserved_secrets
from pegboard.loading.plugins import SECTION_OF_KIND, contributions_of
from pegboard.plugin.origin import Origin
from pegboard.secrets.secret_lookup import is_reserved

DECLARED = "declared by its tools"


class _Received(NamedTuple):
    name: str
    is_set: bool
    given: str
    tool: str = ""


def received_secrets(host: Host, origin: Origin) -> list[dict[str, Any]]:
    """Return the secrets of a plugin or toolkit as JSON: name, whether it is set, how it is given, and the tools."""
    entries: dict[tuple[str, str], dict[str, Any]] = {}
    for name, is_set, source, tool in (*_of_tools(host, origin), *_of_settings(host, origin)):
        entry = {"name": name, "set": is_set, "given": source, "tools": []}
        entries.setdefault((name, source), entry)["tools"] += [tool] if tool else []
    return [entries[key] for key in sorted(entries)]


def required_tokens(host: Host, origin: Origin) -> list[dict[str, Any]]:
    """Return the tokens that the tools of a plugin or toolkit require as JSON: the provider, and the tools."""
    tools_by_provider: dict[str, list[str]] = {}
    for name, bound in host.assembly.tools.items():
        if host.assembly.origins["tools"][name] == origin and bound.requirements and bound.requirements.authorization:
            tools_by_provider.setdefault(bound.requirements.authorization.name, []).append(name)
    return [{"provider": provider, "tools": tools_by_provider[provider]} for provider in sorted(tools_by_provider)]


def missing_needs(host: Host, origin: Origin) -> list[str]:
    """Return the secrets and tokens that tools of a plugin or toolkit need, and the host does not have."""
    owners = host.assembly.origins["tools"]
    return sorted(
        {need for name, tool in host.assembly.tools.items() if owners[name] == origin for need in needs_of(tool)}
    )


def _of_tools(host: Host, origin: Origin) -> Iterator[_Received]:
    sources = list(contributions_of(host.report.plugins, register_token_sources))
    is_kept = partial(is_reserved, reserved=reserved_secrets())
    for name, bound in host.assembly.tools.items():
        required = bound.requirements
        if host.assembly.origins["tools"][name] != origin or required is None:
            continue
        for secret, value in required.secrets.items():
            yield _Received(secret, bool(value), DECLARED, name)
        if required.authorization is None:
            continue
        for plugin, source in sources:
            for secret in token_secrets(required.authorization, [source], is_kept):
                is_set = bool(plugin.context.get_secret(secret))
                yield _Received(secret, is_set, f"as the token of {required.authorization.name}", name)


def _of_settings(host: Host, origin: Origin) -> Iterator[_Received]:
    """Yield the variables that a section refers to by `{ env = "NAME" }`."""
    section = SECTION_OF_KIND[origin.kind]
    for way, ref in references(host.config.section(section, origin.name)):
        key = ".".join(map(str, way))
        yield _Received(ref.env, bool(ref.value), f"by {key} in [{section}.{origin.name}]")
