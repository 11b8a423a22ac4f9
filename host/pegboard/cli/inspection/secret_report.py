"""The secrets and tokens that plugins and toolkits use. Values are not shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pegboard.authorization.providers import token_secrets
from pegboard.config.references import references
from pegboard.hookspecs import register_token_sources
from pegboard.host import Host
from pegboard.loading.plugins import SECTION_OF_KIND, contributions_of
from pegboard.plugin.commands import RequestedSecret
from pegboard.plugin.origin import Origin


def requested_secrets(host: Host, origin: Origin) -> list[RequestedSecret]:
    """Return the secrets that a plugin or toolkit uses."""
    requests: dict[tuple[str, str], RequestedSecret] = {}
    for secret in (*_of_tools(host, origin), *_of_settings(host, origin)):
        key = (secret.name, secret.reason)
        before = requests.setdefault(key, secret._replace(tools=()))
        requests[key] = before._replace(tools=(*before.tools, *secret.tools))
    return [requests[key] for key in sorted(requests)]


def secrets_as_json(host: Host, origin: Origin) -> list[dict[str, Any]]:
    """Return the secrets that a plugin or toolkit uses as JSON."""
    return [
        {
            "name": secret.name,
            "set": secret.is_set,
            "given": secret.reason or "declared by its tools",
            "tools": secret.tools,
        }
        for secret in requested_secrets(host, origin)
    ]


def required_tokens(host: Host, origin: Origin) -> list[dict[str, Any]]:
    """Return the tokens that the tools of a plugin or toolkit require as JSON: the provider, and the tools."""
    tools_by_provider: dict[str, list[str]] = {}
    for name, bound in host.assembly.tools.items():
        if bound.origin == origin and (token := bound.requirements.authorization):
            tools_by_provider.setdefault(token.name, []).append(name)
    return [{"provider": provider, "tools": tools_by_provider[provider]} for provider in sorted(tools_by_provider)]


def missing_needs(host: Host, origin: Origin) -> list[str]:
    """Return the secrets and tokens that tools of a plugin or toolkit need, and the host does not have."""
    return sorted(
        {need for tool in host.assembly.tools.values() if tool.origin == origin for need in tool.requirements.needs}
    )


def _of_tools(host: Host, origin: Origin) -> Iterator[RequestedSecret]:
    sources = list(contributions_of(host.report.plugins, register_token_sources))
    for name, bound in host.assembly.tools.items():
        required = bound.requirements
        if bound.origin != origin:
            continue
        for secret, value in required.secrets.items():
            yield RequestedSecret(secret, bool(value), origin.name, tools=(name,))
        if required.authorization is None:
            continue
        for plugin, source in sources:
            for secret in token_secrets(required.authorization, [source], host.assembly.secrets.is_reserved):
                is_set = bool(plugin.context.get_secret(secret))
                reason = f"as the token of {required.authorization.name}"
                yield RequestedSecret(secret, is_set, origin.name, reason, (name,))


def _of_settings(host: Host, origin: Origin) -> Iterator[RequestedSecret]:
    """Yield the variables that a section refers to by `{ env = "NAME" }`."""
    section = SECTION_OF_KIND[origin.kind]
    for way, ref in references(host.config.section(section, origin.name)):
        key = ".".join(map(str, way))
        yield RequestedSecret(ref.env, bool(ref.value), origin.name, f"by {key} in [{section}.{origin.name}]")
