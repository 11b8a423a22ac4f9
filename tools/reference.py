"""Writes the reference pages in docs/ from the code: hooks, configuration, errors, requirements, tables of options.

A test compares them.

It also copies the examples that `pegboard new` uses into plugins/pegboard_plugins/authoring/new/templates.

python -m tools.reference           write the pages
python -m tools.reference --check   list the pages that differ, exit 1 if any does
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin

from pydantic import BaseModel, PlainSerializer

from pegboard.loading.plugin_facts import FACTS_FILE
from tests.support.requirements import REVISIONS, addresses
from tools.command_line import command_line_page, environment_page
from tools.output_schemas import output_schemas

OURS = ("pegboard", "toolkit-files", "toolkit-github", "toolkit-math")
DOCS = Path(__file__).parent.parent / "docs"
TEMPLATES = DOCS.parent / "plugins" / "pegboard_plugins" / "authoring" / "new" / "templates"
_ABOUT_FILES = """\
pegboard uses the first of these files: `--config FILE`, the file in the variable `PEGBOARD_CONFIG`, `hostconfig.toml`
in the working directory (if you [trust](trust.md) it), and your own: `~/.config/pegboard/hostconfig.toml`, or
`~/Library/Application Support/pegboard/hostconfig.toml` on macOS. [`hostconfig.toml`](../hostconfig.toml) of the
checkout is a short example.

[Variables](environment.md) override the file: `PEGBOARD__HOST__NAME=my-tools`, and
`PEGBOARD__TOOLKITS__FILES__ROOTS='["/srv"]'`. The command line overrides both. `pegboard config check` reports every
error, and `pegboard config show` prints each setting and its source.

A value may come from a variable, which must not be empty: `secret = { env = "ACME_SECRET" }`.

The keys below are shown with their defaults. Most keys without a default are optional.
"""
_NOTE = "<!-- Written by `python -m tools.reference` from the code; edit the docstrings. -->\n"


def hooks_page() -> str:
    """Return the page of all hooks with their signatures and docstrings."""
    from pegboard import hookspecs

    parts = ["# Hooks\n", _NOTE, inspect.cleandoc(hookspecs.__doc__ or "") + "\n"]
    hooks = {name: hook for name, hook in vars(hookspecs).items() if hasattr(hook, "pegboard_spec")}
    for name, function in hooks.items():
        accepted = str(inspect.signature(function).return_annotation).replace("'", "")
        parts += [f"## {name}\n", f"`{name}(context) -> {accepted}`\n", f"{inspect.getdoc(function)}\n"]
    return "\n".join(parts)


def configuration_page() -> str:
    """Return the page of all keys of `[host]` and of the sections of built-in plugins and toolkits."""
    from pegboard.config import HostSection
    from pegboard.loading.discovery import defaults, find_plugins

    sections: dict[str, type[BaseModel] | None] = {"host": HostSection}
    for origin in sorted(find_plugins().origins, key=lambda origin: (origin.kind, origin.name)):
        if origin.distribution in OURS and origin.entry_point is not None:
            sections[f"{origin.kind}s.{origin.name}"] = getattr(origin.entry_point.load(), "Config", None)
    parts = ["# Configuration reference\n", _NOTE, _ABOUT_FILES]
    for name, model in sections.items():
        defaults_of = defaults().get("host", {}) if name == "host" else {}
        for section, of_section in _with_named(name, model):
            rows = _rows(of_section, defaults_of)
            parts += [f"## [{section}]\n", *rows, ""]
    return "\n".join(parts)


def _with_named(section: str, model: type[BaseModel] | None) -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield a section, and the sections in it to which the operator gives names."""
    if model is None:
        return
    yield section, model
    for name, field in model.model_fields.items():
        named = get_args(field.annotation)[1:] if get_origin(field.annotation) is Mapping else ()
        for candidate in named:
            if isinstance(candidate, type) and issubclass(candidate, BaseModel):
                yield f"{section}.{name}.NAME", candidate


def _rows(model: type[BaseModel], table: Mapping[str, Any]) -> Iterator[str]:
    meanings = attributes(model)
    for name, field in model.model_fields.items():
        value = table.get(name, field.default)
        for entry in field.metadata:
            if isinstance(entry, PlainSerializer):
                value = entry.func(value)  # type: ignore[call-arg]  # it takes the value alone
        default = "" if field.is_required() or field.default_factory else _toml(value)
        shown = f"`{name} = {default}`" if default else f"`{name}`"
        required = " (required)" if field.is_required() else ""
        yield f"- {shown}{required}: {field.description or meanings[name]}"


def attributes(documented: type, section: str = "Attributes") -> dict[str, str]:
    """Return the description of each attribute in a class's docstring."""
    text = inspect.getdoc(documented) or ""
    listed = re.split(r"^\w+:$", text.partition(f"{section}:\n")[2], maxsplit=1, flags=re.M)[0]
    entries = re.findall(r"^    (\w+): (.*(?:\n {8,}.*)*)", listed, re.M)
    return {name: re.sub(r"\s+", " ", meaning).strip() for name, meaning in entries}


def _toml(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(f'"{item}"' for item in value) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def tools_page() -> str:
    """Return the page on tools with new lists of options."""
    text = (DOCS / "tools.md").read_text("utf-8")
    return re.sub(r"(<!-- options: (\w+) -->\n).*?(<!-- end -->)", _with_table, text, flags=re.DOTALL)


def _with_table(match: re.Match[str]) -> str:
    """Return a list of options. Only the list for tools has the options that resources and prompts have, too."""
    from pegboard.types.options import CommonOptions

    above = () if match[2] == "ToolOptions" else CommonOptions.__annotations__
    rows = [f"- `{option.example}`: {option.meaning}" for option in options(match[2]) if option.name not in above]
    return match[1] + "\n".join(rows) + "\n" + match[3]


class Option(NamedTuple):
    """One option, with an example in Python."""

    name: str
    meaning: str
    example: str


def options(kind: str) -> list[Option]:
    """Return the options of a kind of definition, in the order of its fields."""
    from pegboard.plugin import base as plugins
    from pegboard.types import options as contracts

    documented, definition = getattr(contracts, kind), getattr(plugins, kind.replace("Options", "Definition"))
    meanings = attributes(contracts.CommonOptions) | attributes(documented)
    order = [name for field in definition._fields for name in (["ui", field] if field == "extensions" else [field])]
    documented_options = []
    for name in sorted(documented.__annotations__, key=order.index):
        meaning, _, example = meanings.get(name, "").removesuffix("`").rpartition(" `")
        documented_options.append(Option(name, meaning, example))
    return documented_options


def errors_page() -> str:
    """Return the page of the taxonomy of errors."""
    from pegboard import errors

    # the tree is the one indented block of the docstring
    text = inspect.cleandoc(errors.__doc__ or "").replace("\n    MCPError", "\n```text\n    MCPError", 1)
    text = re.sub(r"\n\n(?=\w)(?!.*──)", f"\n```\n\n{_ENTRIES}\n\n", text, count=1, flags=re.DOTALL)
    return "\n".join(["# Errors\n", _NOTE, text, *_answers()]) + "\n"


_ENTRIES = "[Entries](reference/errors.md) of all classes."


def _answers() -> Iterator[str]:
    """Yield the errors that clients receive, from tests/errors/answers.toml."""
    from tests.support.error_answers import PLACES, cell, rows, table

    documented = rows()
    yield f"\n{_ANSWERS}"
    yield "| errors | tool | resource | prompt | completion | middleware around a tool | method of a plugin |"
    yield "|---|" + "---|" * len(PLACES)
    for family in table()["families"]:
        names = _highest([row.name for row in documented if row.family == family])
        shown = ", ".join(f"`{name}`" for name in names)
        shown = f"anything else, such as {shown}" if family == "accident" else shown
        cells = []
        for place in PLACES:
            modern, sessions = (cell(family, place, modern=modern) for modern in (True, False))
            cells.append(str(modern) if modern == sessions else f"{modern}; sessions: {sessions}")
        yield f"| {shown} | " + " | ".join(cells) + " |"
    yield f"\n{_MEMBERS}"
    yield "| error | kind | canRetry | statusCode | others |"
    yield "|---|---|---|---|---|"
    others: dict[str, dict[str, None]] = {}
    for row in documented:
        status = row.members.get("statusCode", "")
        start = f"| `{row.name}` | {row.kind} | {str(row.can_retry).lower()} | {status} |"
        members = [name for name in (*row.members, *row.more) if name not in ("statusCode", "extra")]
        if row.kind is not None and (row.can_retry or status or members):
            others.setdefault(start, {}).update(dict.fromkeys(members))
    yield from (f"{start} {', '.join(members)} |" for start, members in others.items())


def _highest(names: Sequence[str]) -> list[str]:
    """Return the names of errors without those of subclasses of others."""
    from pegboard import errors

    bases = {name: getattr(errors, name, Exception).__mro__[1:] for name in names}
    return [name for name in bases if not any(base.__name__ in bases for base in bases[name])]


_ANSWERS = """\
## Responses to errors

The response depends on the place where an error is raised. A class without a row has that of the nearest class above
it. A cell has both forms if 2026-07-28 and sessions differ.

- *result*: a tool result with `isError`. Its text has the error's message and `additional_prompt_content`, and
  `_meta["pegboard/error"]` has the error's members. *caller*: the same with the kind
  `TOOL_RUNTIME_BAD_INPUT_VALUE` and a status: 404 for `NotFoundError`, 403 for `AuthorizationError`, else 400.
- *masked*: "It failed unexpectedly." and an error id; a tool result in tools, the JSON-RPC error -32603 elsewhere.
- *internal*: the JSON-RPC error -32603 "Internal error" with an error id.
- a number: the JSON-RPC error of that code with the error's message. *own* is the code of the `ProtocolError`. The
  `data` of a `ToolkitError` has its members.

Over HTTP the status is 200, except 403 with an `InsufficientScopeError` that the host raises for a caller with a token,
and in 2026-07-28: 404 for an unknown method, 400 with -32021 and for invalid messages, such as -32020 for a wrong
header. The [worker protocol](worker.md) has the same kinds and members in `output.error`; JSON-RPC errors have the
kind `TOOL_RUNTIME_FATAL` there.

An error id (`errorId`) finds the details in the log. It is present for unexpected exceptions, and for errors with a
cause or a `developer_message`. Errors of services (`UpstreamError`, `NetworkTransportError`), and mistakes of the
caller that a tool reports (`MCPContextError`), have one line in the log and no error id.

A group of typed errors is treated as one of them: the first error that a retry cannot fix, else the one with the
longest delay. Other exceptions, and groups with one, are unexpected, unless an [error adapter](error-adapters.md)
knows them.
"""

_MEMBERS = """\
## Members for programs

`_meta["pegboard/error"]`, and the `data` of a JSON-RPC error, always have `kind` and `canRetry`, and `statusCode`,
`retryAfterMs`, `additionalPromptContent`, `errorId` and `extra` if they are set. `extra` is JSON of at most 8 KiB.
Its `endpoint` may be secret and is not sent: your own protocols must leave it out of `Failure.error.extra`. Messages
and `additionalPromptContent` are cut off after 16,384 characters. `to_payload()` returns all fields, for logs and
trusted callers. Errors that the table leaves out have the kind of their class, `canRetry` false and no other members.

A subclass is treated as its base class. The class attributes `default_kind` and `default_status` set other values.

For debugging, [`[plugins.debug_errors]`](configuration.md#pluginsdebug_errors) adds developer messages and stack
traces to tool errors.
"""


def requirements_page() -> str:
    """Return the page of all rules of the specification and their tests."""
    from tests.support.requirements import named, sections

    tests: dict[str, dict[str, None]] = {}
    for test in named():
        tests.setdefault(test.rule, {})[test.path] = None
    parts = ["# Requirements of the specification\n", _NOTE.replace("docstrings", "rules and the tests' marks")]
    parts.append(_REQUIREMENTS)
    for section in sections():
        parts.append(f"## {section.title}\n")
        for rule in section.rules:
            where = ", ".join(_links(rule.sources))
            held = rule.reason or ", ".join(f"[{Path(path).stem}](../tests/{path})" for path in tests.get(rule.id, ()))
            parts.append(f"- **{rule.id}** {rule.level}: {rule.rule} ({where}) {held}")
        parts.append("")
    return "\n".join(parts)


_REQUIREMENTS = f"""\
The rules of the MCP specification, in all revisions from {REVISIONS[0]} to {REVISIONS[-1]}, in our own words. The
specification itself decides.

The level is the word of the specification, or OURS for a promise of pegboard where the specification leaves a choice.
In parentheses are the revisions that have the rule, with a link to the newest. The files with tests of the rule follow,
or the reason for having none.
"""


def _links(sources: Sequence[str]) -> Iterator[str]:
    """Yield a link to the newest page with the rule, named by the revisions of the rule, and links to other sites."""
    dated = {source: source.partition(" ")[2].split("..") for source in sources if not source.startswith("https://")}
    if dated:
        newest = max(dated, key=lambda source: dated[source][-1])
        first = min(revisions[0] for revisions in dated.values())
        yield f"[{_period(first, dated[newest][-1])}]({addresses(newest)[0]})"
    for source in sources:
        if source not in dated:
            yield f"[{source.removeprefix('https://').partition('/')[0]}]({source})"


def _period(first: str, last: str) -> str:
    """Return the revisions from the first to the last."""
    if first == last:
        return first
    if last == REVISIONS[-1]:
        return "all" if first == REVISIONS[0] else f"since {first}"
    return f"until {last}" if first == REVISIONS[0] else f"{first} to {last}"


PAGES: dict[str, Callable[[], str]] = {
    "hooks.md": hooks_page,
    "command-line.md": command_line_page,
    "configuration.md": configuration_page,
    "environment.md": environment_page,
    "errors.md": errors_page,
    "tools.md": tools_page,
    "requirements.md": requirements_page,
    "output.schema.json": output_schemas,
}


def templates() -> dict[str, str]:
    """Return the code and the tests of each example that `pegboard new` uses, by the name of the copy."""
    from pegboard_plugins.authoring.new.kinds import PLUGINS, SERVER, TOOLKIT

    files = {}
    for folder, kinds in ((DOCS / "examples", (TOOLKIT, SERVER)), (DOCS / "examples" / "plugins", PLUGINS.values())):
        for kind in kinds:
            tests = DOCS / "examples" / "tests" / f"{kind.example}_test.py"
            files[f"{kind.example}.txt"] = (folder / f"{kind.example}.py").read_text("utf-8")
            files[f"{kind.example}_test.txt"] = tests.read_text("utf-8")
    files["command_facts.txt"] = (DOCS / "examples" / "plugins" / FACTS_FILE).read_text("utf-8")
    return files


def main(arguments: list[str]) -> int:
    """Write or check the pages."""
    texts = {DOCS / name: page() for name, page in PAGES.items()}
    texts |= {TEMPLATES / name: text for name, text in templates().items()}
    stale = []
    for path, text in texts.items():
        if "--check" not in arguments:
            path.write_text(text, "utf-8")
        elif not path.is_file() or path.read_text("utf-8") != text:
            stale.append(path.name)
    for name in stale:
        print(f"{name} differs from the code; run python -m tools.reference", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
