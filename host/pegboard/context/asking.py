"""The parts of a context that asking the client needs: the connection to the client, the rounds, and steps."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from pegboard.context.interaction import Interaction, pausing
from pegboard.context.rounds import MAX_STEP_RESULTS_BYTES, MAX_TASK_RESULTS_BYTES, Rounds

if TYPE_CHECKING:
    from pegboard.context import Context
    from pegboard.context.bound_function import HostAccess


def asking_of(context: Context) -> Interaction:
    """Return the connection of a context to its client."""
    call = context._call
    if call.ask is not None:
        # nested calls ask through it, too, so that their questions pause this function's clock
        call = call._replace(ask=pausing(call.ask, context))
    return Interaction(call, rounds_of(context), context._refusal)


def rounds_of(context: Context) -> Rounds | None:
    """Return the questions of the call in rounds, created by the first context that may ask the client."""
    call = context._call
    if call.rounds is not None or call.round is None or context._refusal is not None:
        return call.rounds
    if context.asked is None:
        limit = MAX_TASK_RESULTS_BYTES if call.runs_task else MAX_STEP_RESULTS_BYTES
        context.asked = Rounds(call.round, context._task, limit)
    return context.asked


async def run_step(host: HostAccess | None, function: Callable[[], Any]) -> Any:
    """Run a step of `Context.once`: a sync function in a thread of the host."""
    target = function.func if isinstance(function, partial) else function
    if host is None or inspect.iscoroutinefunction(target):
        value = function()
    else:
        value = await host.in_thread(function)
    return await value if inspect.isawaitable(value) else value
