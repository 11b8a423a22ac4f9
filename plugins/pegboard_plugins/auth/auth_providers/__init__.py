"""The built-in auth providers: one class per provider, for `requires_auth`.

    from pegboard_plugins.auth.auth_providers import GitHub

    @kit.tool(requires_auth=GitHub(scopes=["repo"]))

A class only describes a provider. Token sources provide tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pegboard.plugin import Plugin, hookimpl
from pegboard.types import AuthProvider, ToolAuthorization


class OAuth2(ToolAuthorization):
    """A provider that the operator names.

    Args:
        id: the name under which token sources provide its tokens.
        scopes: the scopes of the token, as the provider names them.
    """

    provider = AuthProvider(id=None, title="OAuth 2", documentation="https://www.rfc-editor.org/rfc/rfc6749")

    def __init__(self, *, id: str, scopes: Sequence[str] | None = None) -> None:
        super().__init__(id=id, scopes=scopes)


class Airtable(ToolAuthorization):
    """A token issued by Airtable."""

    provider = AuthProvider(
        id="airtable", title="Airtable", documentation="https://airtable.com/developers/web/api/oauth-reference"
    )


class Asana(ToolAuthorization):
    """A token issued by Asana."""

    provider = AuthProvider(id="asana", title="Asana", documentation="https://developers.asana.com/docs/oauth")


class Atlassian(ToolAuthorization):
    """A token issued by Atlassian."""

    provider = AuthProvider(
        id="atlassian",
        title="Atlassian",
        documentation="https://developer.atlassian.com/cloud/jira/platform/oauth-2-3lo-apps/",
    )


class Attio(ToolAuthorization):
    """A token issued by Attio."""

    provider = AuthProvider(id="attio", title="Attio", documentation="https://docs.attio.com/docs/oauth/authorize")


class Calendly(ToolAuthorization):
    """A token issued by Calendly."""

    provider = AuthProvider(
        id="calendly", title="Calendly", documentation="https://developer.calendly.com/authentication"
    )


class ClickUp(ToolAuthorization):
    """A token issued by ClickUp."""

    provider = AuthProvider(
        id="clickup", title="ClickUp", documentation="https://developer.clickup.com/docs/authentication"
    )


class Discord(ToolAuthorization):
    """A token issued by Discord."""

    provider = AuthProvider(
        id="discord", title="Discord", documentation="https://discord.com/developers/docs/topics/oauth2"
    )


class Dropbox(ToolAuthorization):
    """A token issued by Dropbox."""

    provider = AuthProvider(id="dropbox", title="Dropbox", documentation="https://developers.dropbox.com/oauth-guide")


class Figma(ToolAuthorization):
    """A token issued by Figma."""

    provider = AuthProvider(
        id="figma", title="Figma", documentation="https://developers.figma.com/docs/rest-api/authentication/"
    )


class GitHub(ToolAuthorization):
    """A token issued by GitHub."""

    provider = AuthProvider(
        id="github",
        title="GitHub",
        documentation="https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps",
    )


class Google(ToolAuthorization):
    """A token issued by Google."""

    provider = AuthProvider(
        id="google",
        title="Google",
        documentation="https://developers.google.com/identity/protocols/oauth2",
        error_adapters="errors_google",
    )


class Hubspot(ToolAuthorization):
    """A token issued by HubSpot."""

    provider = AuthProvider(
        id="hubspot",
        title="HubSpot",
        documentation="https://developers.hubspot.com/docs/api-reference/latest/authentication/manage-oauth-tokens",
    )


class Linear(ToolAuthorization):
    """A token issued by Linear."""

    provider = AuthProvider(
        id="linear", title="Linear", documentation="https://linear.app/developers/oauth-2-0-authentication"
    )


class LinkedIn(ToolAuthorization):
    """A token issued by LinkedIn."""

    provider = AuthProvider(
        id="linkedin",
        title="LinkedIn",
        documentation="https://learn.microsoft.com/en-us/linkedin/shared/authentication/authorization-code-flow",
    )


class Microsoft(ToolAuthorization):
    """A token issued by Microsoft."""

    provider = AuthProvider(
        id="microsoft",
        title="Microsoft",
        documentation="https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-auth-code-flow",
        error_adapters="errors_microsoft",
    )


class MicrosoftPowerBI(Microsoft):
    """A token issued by Microsoft Power BI."""

    provider = AuthProvider(
        id="microsoft-powerbi",
        title="Microsoft Power BI",
        documentation="https://learn.microsoft.com/en-us/power-bi/developer/embedded/register-app",
        error_adapters="errors_microsoft",
    )


class Notion(ToolAuthorization):
    """A token issued by Notion."""

    provider = AuthProvider(
        id="notion", title="Notion", documentation="https://developers.notion.com/docs/authorization"
    )


class PagerDuty(ToolAuthorization):
    """A token issued by PagerDuty."""

    provider = AuthProvider(
        id="pagerduty", title="PagerDuty", documentation="https://developer.pagerduty.com/docs/oauth-functionality"
    )


class Reddit(ToolAuthorization):
    """A token issued by Reddit."""

    provider = AuthProvider(
        id="reddit", title="Reddit", documentation="https://github.com/reddit-archive/reddit/wiki/OAuth2"
    )


class Slack(ToolAuthorization):
    """A token issued by Slack."""

    provider = AuthProvider(
        id="slack",
        title="Slack",
        documentation="https://docs.slack.dev/authentication/installing-with-oauth/",
        error_adapters="errors_slack",
    )


class Spotify(ToolAuthorization):
    """A token issued by Spotify."""

    provider = AuthProvider(
        id="spotify",
        title="Spotify",
        documentation="https://developer.spotify.com/documentation/web-api/concepts/authorization",
    )


class Twitch(ToolAuthorization):
    """A token issued by Twitch."""

    provider = AuthProvider(id="twitch", title="Twitch", documentation="https://dev.twitch.tv/docs/authentication/")


class X(ToolAuthorization):
    """A token issued by X."""

    provider = AuthProvider(
        id="x",
        title="X",
        documentation="https://docs.x.com/resources/fundamentals/authentication/oauth-2-0/authorization-code",
    )


class Zoom(ToolAuthorization):
    """A token issued by Zoom."""

    provider = AuthProvider(
        id="zoom", title="Zoom", documentation="https://developers.zoom.us/docs/integrations/oauth/"
    )


PROVIDERS: tuple[type[ToolAuthorization], ...] = (
    OAuth2,
    Airtable,
    Asana,
    Atlassian,
    Attio,
    Calendly,
    ClickUp,
    Discord,
    Dropbox,
    Figma,
    GitHub,
    Google,
    Hubspot,
    Linear,
    LinkedIn,
    Microsoft,
    MicrosoftPowerBI,
    Notion,
    PagerDuty,
    Reddit,
    Slack,
    Spotify,
    Twitch,
    X,
    Zoom,
)
"""All providers."""


class AuthProvidersPlugin(Plugin):
    """The descriptions of the providers. It has no settings."""

    @hookimpl
    def register_auth_providers(self) -> Iterable[AuthProvider]:
        return [entry.provider for entry in PROVIDERS]
