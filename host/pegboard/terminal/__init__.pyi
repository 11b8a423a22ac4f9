# Written by `python -m tools.stubs` from the names in `__init__.py`.
from pegboard.config.problems import (
    dotted,
    toml_value,
)
from pegboard.names import (
    nearest,
    same_name,
)
from pegboard.reloading.source_changes import (
    watch_sources,
)
from pegboard.terminal.call_arguments import (
    parse_arguments,
)
from pegboard.terminal.failures import (
    ProblemFields,
    failure_fields,
    problem_fields,
)
from pegboard.terminal.fitted_lines import (
    fitted,
)
from pegboard.terminal.printing import (
    OutputError,
    UsageError,
    agreed,
    clear_progress,
    diverted,
    first_line,
    flush,
    is_interactive,
    print_json,
    print_lines,
    print_result,
    print_result_json,
    print_table,
    print_text,
    printable,
    say,
    send_messages_to,
)
from pegboard.terminal.progress_bar import (
    show_progress,
    show_status,
)
from pegboard.terminal.questions import (
    Terminal,
)
from pegboard.terminal.schema_words import (
    estimated_tokens,
    parameter_rows,
    tool_tokens,
)

__all__ = [
    "OutputError",
    "ProblemFields",
    "Terminal",
    "UsageError",
    "agreed",
    "clear_progress",
    "diverted",
    "dotted",
    "estimated_tokens",
    "failure_fields",
    "first_line",
    "fitted",
    "flush",
    "is_interactive",
    "nearest",
    "parameter_rows",
    "parse_arguments",
    "print_json",
    "print_lines",
    "print_result",
    "print_result_json",
    "print_table",
    "print_text",
    "printable",
    "problem_fields",
    "same_name",
    "say",
    "send_messages_to",
    "show_progress",
    "show_status",
    "toml_value",
    "tool_tokens",
    "watch_sources",
]
