"""The error adapters, under the names of `arcade_tdk.error_adapters`."""

from pegboard.plugin import ErrorAdapter
from pegboard_plugins.errors.errors_google import GoogleErrorAdapter
from pegboard_plugins.errors.errors_graphql import GraphQLErrorAdapter
from pegboard_plugins.errors.errors_http import HttpErrorAdapter as HTTPErrorAdapter
from pegboard_plugins.errors.errors_microsoft import MicrosoftErrorAdapter as MicrosoftGraphErrorAdapter
from pegboard_plugins.errors.errors_slack import SlackErrorAdapter

__all__ = [
    "ErrorAdapter",
    "GoogleErrorAdapter",
    "GraphQLErrorAdapter",
    "HTTPErrorAdapter",
    "MicrosoftGraphErrorAdapter",
    "SlackErrorAdapter",
]
