"""pegboard_evals: suites that score the tool calls of a model. `pegboard evals` runs them; the host does not use them.

docs/evaluations.md describes the names.
"""

from pegboard.exports import exports

_HOMES = {
    ".weights": "EvalError FuzzyWeight Weight WeightError validate_and_normalize_critic_weights",
    ".critics": "BinaryCritic Critic DatetimeCritic NoneCritic NumericCritic SimilarityCritic",
    ".scoring": """
        MAX_NAME_CHARACTERS ActualCall EvalCase EvalRubric EvaluationResult NamedExpectedToolCall compare_tool_name
        plain_name
    """,
    ".servers": "load_arcade_mcp_gateway_async load_from_stdio_async load_mcp_remote_async",
    ".suites": """
        AnyExpectedToolCall ComparativeCaseBuilder EvalSuite ExpectedMCPToolCall ExpectedToolCall SuiteFunction
        tool_eval
    """,
    ".tools": "MCPToolDefinition ToolCatalog shown_tool with_defaults",
}
"""The public names, by the module that defines them."""

__all__, __getattr__, __dir__ = exports(__name__, _HOMES)
