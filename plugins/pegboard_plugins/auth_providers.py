"""The built-in auth providers: one class per provider, for `requires_auth`.

    from pegboard_plugins.auth_providers import GitHub

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
    """A token of Airtable."""

    provider = AuthProvider(
        id="airtable", title="Airtable", documentation="https://airtable.com/developers/web/api/oauth-reference"
    )


class Asana(ToolAuthorization):
    """A token of Asana."""

    provider = AuthProvider(id="asana", title="Asana", documentation="https://developers.asana.com/docs/oauth")


class Atlassian(ToolAuthorization):
    """A token of Atlassian."""

    provider = AuthProvider(
        id="atlassian",
        title="Atlassian",
        documentation="https://developer.atlassian.com/cloud/jira/platform/oauth-2-3lo-apps/",
    )


class Attio(ToolAuthorization):
    """A token of Attio."""

    provider = AuthProvider(id="attio", title="Attio", documentation="https://docs.attio.com/docs/oauth/authorize")


class Calendly(ToolAuthorization):
    """A token of Calendly."""

    provider = AuthProvider(
        id="calendly", title="Calendly", documentation="https://developer.calendly.com/authentication"
    )


class ClickUp(ToolAuthorization):
    """A token of ClickUp."""

    provider = AuthProvider(
        id="clickup", title="ClickUp", documentation="https://developer.clickup.com/docs/authentication"
    )


class Discord(ToolAuthorization):
    """A token of Discord."""

    provider = AuthProvider(
        id="discord", title="Discord", documentation="https://discord.com/developers/docs/topics/oauth2"
    )


class Dropbox(ToolAuthorization):
    """A token of Dropbox."""

    provider = AuthProvider(id="dropbox", title="Dropbox", documentation="https://developers.dropbox.com/oauth-guide")


class Figma(ToolAuthorization):
    """A token of Figma."""

    provider = AuthProvider(
        id="figma", title="Figma", documentation="https://developers.figma.com/docs/rest-api/authentication/"
    )


class GitHub(ToolAuthorization):
    """A token of GitHub."""

    provider = AuthProvider(
        id="github",
        title="GitHub",
        documentation="https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps",
    )


class Google(ToolAuthorization):
    """A token of Google."""

    provider = AuthProvider(
        id="google",
        title="Google",
        documentation="https://developers.google.com/identity/protocols/oauth2",
        error_adapters="errors_google",
    )


class Hubspot(ToolAuthorization):
    """A token of HubSpot."""

    provider = AuthProvider(
        id="hubspot", title="HubSpot", documentation="https://developers.hubspot.com/docs/api/working-with-oauth"
    )


class Linear(ToolAuthorization):
    """A token of Linear."""

    provider = AuthProvider(
        id="linear", title="Linear", documentation="https://linear.app/developers/oauth-2-0-authentication"
    )


class LinkedIn(ToolAuthorization):
    """A token of LinkedIn."""

    provider = AuthProvider(
        id="linkedin",
        title="LinkedIn",
        documentation="https://learn.microsoft.com/en-us/linkedin/shared/authentication/authorization-code-flow",
    )


class Microsoft(ToolAuthorization):
    """A token of Microsoft."""

    provider = AuthProvider(
        id="microsoft",
        title="Microsoft",
        documentation="https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-auth-code-flow",
        error_adapters="errors_microsoft",
    )


class MicrosoftPowerBI(Microsoft):
    """A token of Microsoft Power BI."""

    provider = AuthProvider(
        id="microsoft-powerbi",
        title="Microsoft Power BI",
        documentation="https://learn.microsoft.com/en-us/power-bi/developer/embedded/register-app",
        error_adapters="errors_microsoft",
    )


class Notion(ToolAuthorization):
    """A token of Notion."""

    provider = AuthProvider(
        id="notion", title="Notion", documentation="https://developers.notion.com/docs/authorization"
    )


class PagerDuty(ToolAuthorization):
    """A token of PagerDuty."""

    provider = AuthProvider(
        id="pagerduty", title="PagerDuty", documentation="https://developer.pagerduty.com/docs/oauth-functionality"
    )


class Reddit(ToolAuthorization):
    """A token of Reddit."""

    provider = AuthProvider(
        id="reddit", title="Reddit", documentation="https://github.com/reddit-archive/reddit/wiki/OAuth2"
    )


class Slack(ToolAuthorization):
    """A token of Slack."""

    provider = AuthProvider(
        id="slack",
        title="Slack",
        documentation="https://docs.slack.dev/authentication/installing-with-oauth/",
        error_adapters="errors_slack",
    )


class Spotify(ToolAuthorization):
    """A token of Spotify."""

    provider = AuthProvider(
        id="spotify",
        title="Spotify",
        documentation="https://developer.spotify.com/documentation/web-api/concepts/authorization",
    )


class Twitch(ToolAuthorization):
    """A token of Twitch."""

    provider = AuthProvider(id="twitch", title="Twitch", documentation="https://dev.twitch.tv/docs/authentication/")


class X(ToolAuthorization):
    """A token of X."""

    provider = AuthProvider(
        id="x",
        title="X",
        documentation="https://docs.x.com/resources/fundamentals/authentication/oauth-2-0/authorization-code",
    )


class Zoom(ToolAuthorization):
    """A token of Zoom."""

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
        """Return the description of each provider."""
        return [one.provider for one in PROVIDERS]
