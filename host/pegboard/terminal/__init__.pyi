# Written by `python -m tools.stubs` from the names in `__init__.py`.
from pegboard.names import (
    nearest,
)
from pegboard.terminal.fitted_lines import (
    fitted,
)
from pegboard.terminal.printing import (
    OutputError,
    agreed,
    clear_progress,
    first_line,
    is_interactive,
    print_json,
    print_lines,
    print_result,
    print_result_json,
    print_table,
    print_text,
    printable,
    say,
)
from pegboard.terminal.progress_bar import (
    show_progress,
    show_status,
)
from pegboard.terminal.usage_error import (
    UsageError,
)

__all__ = [
    "OutputError",
    "UsageError",
    "agreed",
    "clear_progress",
    "first_line",
    "fitted",
    "is_interactive",
    "nearest",
    "print_json",
    "print_lines",
    "print_result",
    "print_result_json",
    "print_table",
    "print_text",
    "printable",
    "say",
    "show_progress",
    "show_status",
]
