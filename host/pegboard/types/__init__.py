"""Records that tools, plugins, protocols and the host exchange.

They depend on no wire format and no transport. They are named tuples, because defining a frozen dataclass takes ten
times as long at every start, and creating one takes three times as long at every call. Construct them by keyword, and
change one with `record._replace(...)`.
"""

from pegboard.exports import exports

_HOMES = {
    ".callers": "ANONYMOUS Caller Client LOCAL Supplied",
    ".calls": """
        Ask Call CallNext EmbeddedOutcome Failure InputRequired Listing MethodResult Notify Outcome Question
        RawResult Round
    """,
    ".catalogue": """
        Change Identity Inventory ItemKind Prompt PromptArgument Resource ResourceTemplate Tool ToolkitInfo
    """,
    ".http": "EventStream Headers Request Response ServerSentEvent",
    ".request_headers": "header_fields",
    ".authorization": "AuthProvider TokenRequest ToolAuthorization",
    ".reloads": "ReloadResult",
    "..context.input_requests": "Elicit ElicitUrl ListRoots Root Sample Sampled",
}
"""The public names, by the module that defines them."""

__all__, __getattr__, __dir__ = exports(__name__, _HOMES)
