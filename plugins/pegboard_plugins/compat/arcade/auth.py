"""The auth providers, under the names of `arcade_mcp_server.auth` and `arcade_tdk.auth`."""

from pegboard.types import ToolAuthorization
from pegboard_plugins.auth.auth_providers import (
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
    OAuth2,
    PagerDuty,
    Reddit,
    Slack,
    Spotify,
    Twitch,
    X,
    Zoom,
)

__all__ = [
    "Airtable", "Asana", "Atlassian", "Attio", "Calendly", "ClickUp", "Discord", "Dropbox", "Figma", "GitHub",
    "Google", "Hubspot", "Linear", "LinkedIn", "Microsoft", "MicrosoftPowerBI", "Notion", "OAuth2", "PagerDuty",
    "Reddit", "Slack", "Spotify", "ToolAuthorization", "Twitch", "X", "Zoom",
]  # fmt: skip
