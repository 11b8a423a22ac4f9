"""Names of FastMCP that pegboard has elsewhere."""

from functools import partial

from pegboard_plugins.compat import missing

_PLACES = {
    'serve a folder of skills with Toolkit(skills="FOLDER"), or in [plugins.skills]': """
        Skill SkillCatalogProvider SkillManifestProvider SkillProvider SkillsDirectoryProvider ClaudeSkillsProvider""",
    "call the function in the tool, with the argument": "CallArgument",
    "use `ctx.get_state` and `ctx.set_state`": "UserSession",
    "configure [plugins.resource_server]": "IntrospectionTokenVerifier JWTVerifier RemoteAuthProvider TokenVerifier",
    "configure [plugins.auth_token]": "StaticTokenVerifier",
    "configure [plugins.login]": """
        Auth0Provider AWSCognitoProvider AzureProvider ClerkProvider DiscordProvider GitHubProvider GoogleProvider
        HuggingFaceProvider OAuthProxy OIDCProxy WorkOSProvider""",
    "use the option `scopes` of pegboard's `@kit.tool`": "require_scopes AuthMiddleware",
    "configure [plugins.rate_limit]": "RateLimitingMiddleware SlidingWindowRateLimitingMiddleware",
    "configure [plugins.logging]": "LoggingMiddleware StructuredLoggingMiddleware",
    "configure [plugins.timing]": "TimingMiddleware DetailedTimingMiddleware",
    "configure [plugins.cache]": "ResponseCachingMiddleware",
    "configure [plugins.large_results]": "ResponseLimitingMiddleware",
    "use `get_http_request().headers`": "CurrentHeaders CurrentRequest get_http_headers",
    "use `get_access_token()`": "CurrentAccessToken TokenClaim",
    "use `ctx.fastmcp`": "CurrentFastMCP",
    "use contextlib.asynccontextmanager": "lifespan",
    "decorate the function with a method of the server": "tool prompt resource",
    "use the methods of the server": "LocalProvider",
    "serve the folder with `pegboard serve`": "FileSystemProvider",
    "use `FastMCP.mount`": "FastMCPProvider Namespace",
    "offer fewer tools with [plugins.mcp.profiles]": "BM25SearchTransform CodeMode RegexSearchTransform",
    "write a plugin with the hook register_tools": "PromptsAsTools ResourcesAsTools ToolTransform",
    "write a plugin with the hook register_methods": "ServerExtension",
    "use pegboard_client.Client, or pegboard_testing.connect(server) in tests": "Client",
}
missing_names = partial(
    missing.missing_names, places={name: at for at, names in _PLACES.items() for name in names.split()}
)
"""Return the `__getattr__` of a module. Its ImportError names the place of a name."""
