"""A suite in Python from the calls that a model made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pprint import pformat
from typing import Any

from pegboard_plugins.authoring.evals.answers import Answer, Job, Key

_HEAD = """# Tool calls of {model!a}, to check and correct

from pegboard_evals import BinaryCritic, EvalSuite, ExpectedMCPToolCall, tool_eval


@tool_eval()
def {function}() -> EvalSuite:
    suite = EvalSuite({name!r}, {system!r})
"""
_CASE = """\
    suite.add_case(
        name={name!r},
        user_message={message!r},
        expected_tool_calls=[{calls}],
        critics=[{critics}],
{context}    )
"""


def captured_suite(jobs: Sequence[Job], answers: Mapping[Key, Answer], *, context: bool) -> str:
    """Return the code of suites that expect the calls of the first run of the first model.

    Args:
        jobs: the requests.
        answers: the answers. Cases without an answer are left out.
        context: True to write the system message and the messages before the last one.
    """
    first = [job for job in jobs if job.run == 0 and str(job.model) == str(jobs[0].model)]
    parts: list[str] = []
    for number, suite in enumerate(dict.fromkeys(job.suite for job in first), 1):
        own = [job for job in first if job.suite == suite and answers[job.key].error is None]
        tracks = {job.case.track: job.tools for job in own if job.case.track}
        system = own[0].case.system_message if own else ""
        head = _HEAD if not parts else "\n\n" + _HEAD[_HEAD.index("@tool_eval") :]
        parts.append(head.format(model=str(first[0].model), function=f"suite_{number}", name=suite, system=system))
        for track, tools in tracks.items():
            parts.append(f"    suite.add_tool_definitions({_shown(tools)}, track={track!r})\n")
        parts += [_case(job, answers[job.key], context=context) for job in own]
        parts.append("    return suite\n")
    return "".join(parts)


def _case(job: Job, answer: Answer, *, context: bool) -> str:
    calls = [f"ExpectedMCPToolCall({name!r}, {_shown(arguments)})" for name, arguments in answer.calls]
    fields = dict.fromkeys(field for _, arguments in answer.calls for field in arguments)
    weight = round(1 / len(fields), 3) if fields else 0
    case = job.case
    more: dict[str, Any] = {"track": case.track} if case.track else {}
    if context:
        more |= {"system_message": case.system_message, "additional_messages": case.additional_messages}
    return _CASE.format(
        name=case.name,
        message=case.user_message,
        calls=", ".join(calls),
        critics=", ".join(f"BinaryCritic({field!r}, {weight})" for field in fields),
        context="".join(f"        {name}={_shown(value)},\n" for name, value in more.items()),
    )


def _shown(value: Any) -> str:
    return pformat(value, width=10_000, sort_dicts=False)
