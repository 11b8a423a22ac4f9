"""The API for commands of plugins: their arguments, data on standard output, messages and questions on standard error.

Control characters are escaped, and secrets of the host are masked.
"""

from pegboard.exports import exports

_HOMES = {
    ".printing": """
        OutputError UsageError agreed clear_progress diverted first_line flush is_interactive print_json print_lines
        print_result print_result_json print_table print_text printable say send_messages_to
    """,
    ".progress_bar": "show_progress show_status",
    ".fitted_lines": "fitted",
    ".call_arguments": "parse_arguments",
    ".failures": "ProblemFields failure_fields problem_fields",
    ".questions": "Terminal",
    ".schema_words": "estimated_tokens parameter_rows tool_tokens",
    "..names": "nearest same_name",
    "..reloading.source_changes": "watch_sources",
    "..config.problems": "dotted toml_value",
}
"""The public names, by the module that defines them."""

__all__, __getattr__, __dir__ = exports(__name__, _HOMES)
