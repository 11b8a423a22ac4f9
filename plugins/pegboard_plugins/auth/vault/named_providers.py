"""The 24 named providers: addresses and deviations from OAuth 2.0, each with its documentation.

Data only, from these public sources. "Docs" is the documentation of the provider; for Airtable, LinkedIn, Notion and X
only excerpts of it were read. "Libraries" are the OAuth clients Auth.js, Arctic, Nango, Python Social Auth and
twitch_oauth2.

- airtable: docs, official example
- asana: docs for the addresses; no source for PKCE
- atlassian: docs for the login page; libraries for the rest, except JSON
- attio: docs; libraries for the login page
- calendly: docs
- clickup: docs
- discord: docs; libraries for PKCE
- dropbox: docs, official SDK; libraries for revocation
- figma: official API description for the addresses; libraries for Basic authentication; they differ about commas or
  spaces between scopes
- github: docs
- google: docs for the flows; libraries for the addresses
- hubspot: docs
- linear: docs for the login page and PKCE; libraries for the token address; only other programs for revocation
- linkedin: docs; libraries for the token address
- microsoft, microsoft-powerbi: docs (for Power BI only those of Microsoft accounts)
- notion: docs; libraries for the login page
- pagerduty: docs
- reddit: archived docs for the login page; libraries for the rest, except revocation
- slack: docs, except for revocation
- spotify: libraries
- twitch: docs; libraries for the device flow
- x: docs
- zoom: docs for tokens; libraries for the login page, PKCE and revocation
"""

from __future__ import annotations

from typing import NamedTuple


class NamedProvider(NamedTuple):
    """A provider as its documentation describes it.

    Attributes:
        title: its name for people.
        documentation: its page about authorization.
        authorization_endpoint: the page for logins.
        token_endpoint: the address for tokens.
        issuer: the issuer that it sends with its response (RFC 9207); "" if it sends none.
        refresh_endpoint: the address that renews tokens; "" for the address for tokens.
        revocation_endpoint: the address for revocation; "" for none.
        device_endpoint: the address for device authorization; "" for none.
        account_endpoint: an address that describes the user of a token; "" for none.
        account_member: the member of that description that names the user.
        parameters: fixed parameters of the page for logins.
        scopes: scopes that every login requests.
        scope_separator: the characters between scopes.
        scope_parameter: the parameter for scopes.
        auth_method: the way in which a client with a secret authenticates.
        sends_json: True if token requests are JSON objects.
        pkce: True if it supports PKCE.
        pkce_with_secret: False if only clients without a secret may use PKCE.
        headers: headers that it requires in requests for tokens and for revocation.
        error_codes: its error messages in place of the codes of RFC 6749 and RFC 8628, and the code of each.
        device_scope_parameter: the parameter for scopes of the address for device authorization.
        revokes_access_token: True if it revokes access tokens only; otherwise the refresh token is revoked.
        revocation_auth: the way in which a client authenticates for revocation; "" as for tokens, "none" with its
            id alone, "bearer" with the token itself, in a request without members.
        token_member: the member of the response that has the token; "" if the response itself has it.
        reports_scopes: True if the response names the granted scopes in the words of the request.
    """

    title: str
    documentation: str
    authorization_endpoint: str = ""
    token_endpoint: str = ""
    issuer: str = ""
    refresh_endpoint: str = ""
    revocation_endpoint: str = ""
    device_endpoint: str = ""
    account_endpoint: str = ""
    account_member: str = ""
    parameters: tuple[tuple[str, str], ...] = ()
    scopes: tuple[str, ...] = ()
    scope_separator: str = " "
    scope_parameter: str = "scope"
    auth_method: str = "client_secret_post"
    sends_json: bool = False
    pkce: bool = True
    pkce_with_secret: bool = True
    headers: tuple[tuple[str, str], ...] = ()
    error_codes: tuple[tuple[str, str], ...] = ()
    device_scope_parameter: str = "scope"
    revokes_access_token: bool = False
    revocation_auth: str = ""
    token_member: str = ""
    reports_scopes: bool = False


_BASIC = "client_secret_basic"
_MICROSOFT = "https://login.microsoftonline.com/common/oauth2/v2.0"

NAMED_PROVIDERS: dict[str, NamedProvider] = {
    "airtable": NamedProvider(
        "Airtable",
        "https://airtable.com/developers/web/api/oauth-reference",
        "https://airtable.com/oauth2/v1/authorize",
        "https://airtable.com/oauth2/v1/token",
        auth_method=_BASIC,
    ),
    "asana": NamedProvider(
        "Asana",
        "https://developers.asana.com/docs/oauth",
        "https://app.asana.com/-/oauth_authorize",
        "https://app.asana.com/-/oauth_token",
        revocation_endpoint="https://app.asana.com/-/oauth_revoke",
    ),
    "atlassian": NamedProvider(
        "Atlassian",
        "https://developer.atlassian.com/cloud/jira/platform/oauth-2-3lo-apps/",
        "https://auth.atlassian.com/authorize",
        "https://auth.atlassian.com/oauth/token",
        parameters=(("audience", "api.atlassian.com"), ("prompt", "consent")),
        scopes=("offline_access",),
        sends_json=True,
        pkce=False,
    ),
    "attio": NamedProvider(
        "Attio",
        "https://docs.attio.com/docs/oauth/authorize",
        "https://app.attio.com/authorize",
        "https://app.attio.com/oauth/token",
        revocation_endpoint="https://app.attio.com/oauth/revoke",
        pkce=False,
        revokes_access_token=True,
        revocation_auth="none",
    ),
    "calendly": NamedProvider(
        "Calendly",
        "https://developer.calendly.com/authentication",
        "https://auth.calendly.com/oauth/authorize",
        "https://auth.calendly.com/oauth/token",
        revocation_endpoint="https://auth.calendly.com/oauth/revoke",
        auth_method=_BASIC,
        revocation_auth="client_secret_post",
    ),
    "clickup": NamedProvider(
        "ClickUp",
        "https://developer.clickup.com/docs/authentication",
        "https://app.clickup.com/api",
        "https://api.clickup.com/api/v2/oauth/token",
        pkce=False,
    ),
    "discord": NamedProvider(
        "Discord",
        "https://discord.com/developers/docs/topics/oauth2",
        "https://discord.com/oauth2/authorize",
        "https://discord.com/api/oauth2/token",
        issuer="https://discord.com",
        revocation_endpoint="https://discord.com/api/oauth2/token/revoke",
    ),
    "dropbox": NamedProvider(
        "Dropbox",
        "https://developers.dropbox.com/oauth-guide",
        "https://www.dropbox.com/oauth2/authorize",
        "https://api.dropboxapi.com/oauth2/token",
        revocation_endpoint="https://api.dropboxapi.com/2/auth/token/revoke",
        parameters=(("token_access_type", "offline"),),
        revokes_access_token=True,
        revocation_auth="bearer",
    ),
    "figma": NamedProvider(
        "Figma",
        "https://developers.figma.com/docs/rest-api/authentication/",
        "https://www.figma.com/oauth",
        "https://api.figma.com/v1/oauth/token",
        refresh_endpoint="https://api.figma.com/v1/oauth/refresh",
        auth_method=_BASIC,
    ),
    "github": NamedProvider(
        "GitHub",
        "https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps",
        "https://github.com/login/oauth/authorize",
        "https://github.com/login/oauth/access_token",
        device_endpoint="https://github.com/login/device/code",
        account_endpoint="https://api.github.com/user",
        account_member="login",
    ),
    "google": NamedProvider(
        "Google",
        "https://developers.google.com/identity/protocols/oauth2",
        "https://accounts.google.com/o/oauth2/v2/auth",
        "https://oauth2.googleapis.com/token",
        issuer="https://accounts.google.com",
        revocation_endpoint="https://oauth2.googleapis.com/revoke",
        device_endpoint="https://oauth2.googleapis.com/device/code",
        parameters=(("access_type", "offline"), ("prompt", "consent"), ("include_granted_scopes", "true")),
    ),
    "hubspot": NamedProvider(
        "HubSpot",
        "https://developers.hubspot.com/docs/api-reference/latest/authentication/manage-oauth-tokens",
        "https://app.hubspot.com/oauth/authorize",
        "https://api.hubapi.com/oauth/2026-03/token",
        revocation_endpoint="https://api.hubapi.com/oauth/2026-03/token/revoke",
        pkce=False,
    ),
    "linear": NamedProvider(
        "Linear",
        "https://linear.app/developers/oauth-2-0-authentication",
        "https://linear.app/oauth/authorize",
        "https://api.linear.app/oauth/token",
        revocation_endpoint="https://api.linear.app/oauth/revoke",
        scope_separator=",",
    ),
    "linkedin": NamedProvider(
        "LinkedIn",
        "https://learn.microsoft.com/en-us/linkedin/shared/authentication/authorization-code-flow",
        "https://www.linkedin.com/oauth/v2/authorization",
        "https://www.linkedin.com/oauth/v2/accessToken",
        pkce=False,
    ),
    "microsoft": NamedProvider(
        "Microsoft",
        "https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-auth-code-flow",
        f"{_MICROSOFT}/authorize",
        f"{_MICROSOFT}/token",
        device_endpoint=f"{_MICROSOFT}/devicecode",
        scopes=("offline_access",),
    ),
    "microsoft-powerbi": NamedProvider(
        "Microsoft Power BI",
        "https://learn.microsoft.com/en-us/power-bi/developer/embedded/register-app",
        f"{_MICROSOFT}/authorize",
        f"{_MICROSOFT}/token",
        device_endpoint=f"{_MICROSOFT}/devicecode",
        scopes=("offline_access",),
    ),
    "notion": NamedProvider(
        "Notion",
        "https://developers.notion.com/docs/authorization",
        "https://api.notion.com/v1/oauth/authorize",
        "https://api.notion.com/v1/oauth/token",
        revocation_endpoint="https://api.notion.com/v1/oauth/revoke",
        parameters=(("owner", "user"),),
        auth_method=_BASIC,
        sends_json=True,
        pkce=False,
        headers=(("Notion-Version", "2025-09-03"),),
        revokes_access_token=True,
    ),
    "pagerduty": NamedProvider(
        "PagerDuty",
        "https://developer.pagerduty.com/docs/oauth-functionality",
        "https://identity.pagerduty.com/oauth/authorize",
        "https://identity.pagerduty.com/oauth/token",
    ),
    "reddit": NamedProvider(
        "Reddit",
        "https://github.com/reddit-archive/reddit/wiki/OAuth2",
        "https://www.reddit.com/api/v1/authorize",
        "https://www.reddit.com/api/v1/access_token",
        revocation_endpoint="https://www.reddit.com/api/v1/revoke_token",
        parameters=(("duration", "permanent"),),
        auth_method=_BASIC,
        pkce=False,
        headers=(("User-Agent", "pegboard"),),  # Reddit limits the names that libraries send
    ),
    "slack": NamedProvider(
        "Slack",
        "https://docs.slack.dev/authentication/installing-with-oauth/",
        "https://slack.com/oauth/v2/authorize",
        "https://slack.com/api/oauth.v2.access",
        revocation_endpoint="https://slack.com/api/auth.revoke",
        scope_separator=",",
        scope_parameter="user_scope",
        auth_method=_BASIC,
        pkce_with_secret=False,
        revokes_access_token=True,
        revocation_auth="none",
        token_member="authed_user",  # noqa: S106 - the name of a member
        reports_scopes=True,
    ),
    "spotify": NamedProvider(
        "Spotify",
        "https://developer.spotify.com/documentation/web-api/concepts/authorization",
        "https://accounts.spotify.com/authorize",
        "https://accounts.spotify.com/api/token",
        auth_method=_BASIC,
    ),
    "twitch": NamedProvider(
        "Twitch",
        "https://dev.twitch.tv/docs/authentication/",
        "https://id.twitch.tv/oauth2/authorize",
        "https://id.twitch.tv/oauth2/token",
        revocation_endpoint="https://id.twitch.tv/oauth2/revoke",
        device_endpoint="https://id.twitch.tv/oauth2/device",
        pkce=False,
        error_codes=(
            ("authorization_pending", "authorization_pending"),
            ("Invalid refresh token", "invalid_grant"),
        ),
        device_scope_parameter="scopes",
        revokes_access_token=True,
        revocation_auth="none",
    ),
    "x": NamedProvider(
        "X",
        "https://docs.x.com/resources/fundamentals/authentication/oauth-2-0/authorization-code",
        "https://x.com/i/oauth2/authorize",
        "https://api.x.com/2/oauth2/token",
        revocation_endpoint="https://api.x.com/2/oauth2/revoke",
        scopes=("offline.access",),
        auth_method=_BASIC,
    ),
    "zoom": NamedProvider(
        "Zoom",
        "https://developers.zoom.us/docs/integrations/oauth/",
        "https://zoom.us/oauth/authorize",
        "https://zoom.us/oauth/token",
        revocation_endpoint="https://zoom.us/oauth/revoke",
        auth_method=_BASIC,
        revokes_access_token=True,
    ),
}
