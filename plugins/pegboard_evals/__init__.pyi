# Written by `python -m tools.stubs` from the names in `__init__.py`.
from pegboard_evals.critics import (
    BinaryCritic,
    Critic,
    DatetimeCritic,
    NoneCritic,
    NumericCritic,
    SimilarityCritic,
)
from pegboard_evals.scoring import (
    ActualCall,
    EvalCase,
    EvalRubric,
    EvaluationResult,
    MAX_NAME_CHARACTERS,
    NamedExpectedToolCall,
    compare_tool_name,
    plain_name,
)
from pegboard_evals.servers import (
    load_arcade_mcp_gateway_async,
    load_from_stdio_async,
    load_mcp_remote_async,
)
from pegboard_evals.suites import (
    AnyExpectedToolCall,
    ComparativeCaseBuilder,
    EvalSuite,
    ExpectedMCPToolCall,
    ExpectedToolCall,
    SuiteFunction,
    tool_eval,
)
from pegboard_evals.tools import (
    MCPToolDefinition,
    ToolCatalog,
    shown_tool,
    with_defaults,
)
from pegboard_evals.weights import (
    EvalError,
    FuzzyWeight,
    Weight,
    WeightError,
    validate_and_normalize_critic_weights,
)

__all__ = [
    "ActualCall",
    "AnyExpectedToolCall",
    "BinaryCritic",
    "ComparativeCaseBuilder",
    "Critic",
    "DatetimeCritic",
    "EvalCase",
    "EvalError",
    "EvalRubric",
    "EvalSuite",
    "EvaluationResult",
    "ExpectedMCPToolCall",
    "ExpectedToolCall",
    "FuzzyWeight",
    "MAX_NAME_CHARACTERS",
    "MCPToolDefinition",
    "NamedExpectedToolCall",
    "NoneCritic",
    "NumericCritic",
    "SimilarityCritic",
    "SuiteFunction",
    "ToolCatalog",
    "Weight",
    "WeightError",
    "compare_tool_name",
    "load_arcade_mcp_gateway_async",
    "load_from_stdio_async",
    "load_mcp_remote_async",
    "plain_name",
    "shown_tool",
    "tool_eval",
    "validate_and_normalize_critic_weights",
    "with_defaults",
]
