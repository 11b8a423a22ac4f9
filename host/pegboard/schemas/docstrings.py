"""Descriptions of parameters in docstrings of the styles of Google, NumPy and Sphinx.

docstring-parser is imported only if a docstring has a section about parameters.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final


def _google(titles: str) -> re.Pattern[str]:
    return re.compile(rf"^(?:{titles}):[ \t]*\n(?:[ \t]+\S.*(?:\n|\Z)|[ \t]*\n)*", re.MULTILINE)


def _numpy(titles: str) -> re.Pattern[str]:
    heading = r"[ \t]*\n-{3,}[ \t]*$"
    line = r"(?:[ \t]*$|[ \t]+\S.*|[\w*`.]+(?:, ?[\w*`.]+)*(?:[ \t]*:.*)?$)"  # blank, indented, or the name of an entry
    return re.compile(rf"^(?:{titles}){heading}(?:\n(?!.*{heading}){line})*\n?", re.MULTILINE)


def _sphinx(fields: str) -> re.Pattern[str]:
    return re.compile(rf"^:(?:{fields})\b[^:\n]*:.*(?:\n(?:[ \t]*\n)*[ \t]+\S.*)*\n?", re.MULTILINE)


_PARAMETERS: Final = {
    "GOOGLE": _google("Args|Arguments|Parameters|Params"),
    "NUMPYDOC": _numpy("(?:Other )?Parameters"),
    "REST": _sphinx("param|parameter|arg|argument|key|keyword|type"),
}
"""The sections about parameters, by the name of their style in docstring-parser."""
_RAISES: Final = (_google("Raises"), _numpy("Raises"), _sphinx("raises?|except|exception"))

_ENTRY: Final = re.compile(r"^[ \t]*[\w.]+[ \t]*(?::|$)", re.MULTILINE)
"""An entry of a section about exceptions: a name, alone or before a colon."""


def split_docstring(docstring: str, names: Collection[str]) -> tuple[str, Mapping[str, str]]:
    """Return the description of a function without sections about its parameters and exceptions, and its parameters.

    Args:
        docstring: the docstring, without indentation.
        names: the names of the parameters. A section that describes none of them remains in the description.
    """
    text = docstring
    described: dict[str, str] = {}
    for style, pattern in _PARAMETERS.items():
        sections = pattern.findall(text)
        for section in ["".join(sections)] if style == "REST" else sections:  # one field of Sphinx is no section
            parameters = _parsed(section, style)
            if not parameters.keys().isdisjoint(names):
                described |= parameters
                text = pattern.sub("", text) if style == "REST" else text.replace(section, "", 1)
    for pattern in _RAISES:
        text = pattern.sub(_without_entries, text)
    text = re.sub(r"\n{3,}", "\n\n", text).strip()
    return text or docstring, {name: described[name] for name in names if described.get(name)}


def documented_names(docstring: str) -> list[str]:
    """Return the names in the sections about parameters, in order."""
    sections = ((section, style) for style, pattern in _PARAMETERS.items() for section in pattern.findall(docstring))
    documented = [name for section, style in sections for name in _parsed(section, style)]
    return [name for name in dict.fromkeys(documented) if name.isidentifier()]


def _without_entries(section: re.Match[str]) -> str:
    """Return "" for a section about exceptions, and other text unchanged."""
    heading, _, entries = section[0].partition("\n")
    return "" if heading.startswith(":") or _ENTRY.search(entries) else section[0]


def _parsed(sections: str, style: str) -> dict[str, str]:
    """Return the descriptions in sections of one style, or an empty dict if the sections do not follow the style."""
    if not sections:
        return {}
    from docstring_parser import DocstringStyle, ParseError, parse

    try:
        parameters = parse(f"Summary.\n\n{sections}", style=DocstringStyle[style]).params
    except ParseError:  # a line without a colon continues an entry even if it is not indented further
        joined = re.sub(r"\n[ \t]+(?=[^:\n]+(?:\n|$))", " ", sections)
        return {} if joined == sections else _parsed(joined, style)
    return {
        name.strip(" *`"): parameter.description or ""
        for parameter in parameters
        for name in parameter.arg_name.split(",")
    }
