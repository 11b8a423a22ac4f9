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
    EvalCase,
    EvalRubric,
    EvaluationResult,
    NamedExpectedToolCall,
    compare_tool_name,
)
from pegboard_evals.suites import (
    AnyExpectedToolCall,
    EvalSuite,
    ExpectedMCPToolCall,
    ExpectedToolCall,
    MCPToolDefinition,
    ToolCatalog,
    tool_eval,
)
from pegboard_evals.weights import (
    EvalError,
    FuzzyWeight,
    Weight,
    WeightError,
    validate_and_normalize_critic_weights,
)

__all__ = [
    "AnyExpectedToolCall",
    "BinaryCritic",
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
    "MCPToolDefinition",
    "NamedExpectedToolCall",
    "NoneCritic",
    "NumericCritic",
    "SimilarityCritic",
    "ToolCatalog",
    "Weight",
    "WeightError",
    "compare_tool_name",
    "tool_eval",
    "validate_and_normalize_critic_weights",
]
