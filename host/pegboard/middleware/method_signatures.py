"""What middleware must be to stand around calls, told when its plugin is loaded. It runs none of it."""

from __future__ import annotations

import inspect
from typing import Any

from pegboard.middleware.around import Around
from pegboard.names import nearest
from pegboard.plugin.middleware import Middleware

MIDDLEWARE_METHODS = tuple(name for name in vars(Middleware) if name.startswith("on_"))
"""The methods that a middleware may override."""


def as_middleware(item: object) -> object:
    """A plain function as the middleware that it stands for; anything else as it is."""
    return Around(item) if callable(item) and not isinstance(item, type | Middleware) else item


def middleware_problem(item: Middleware) -> str | None:
    """What is wrong with a middleware, None when nothing is."""
    what = type(item).__name__ if type(item) is not Around else "middleware"
    name: object = item.name
    if not isinstance(name, str | None):
        return f"{what} whose name is no text"
    if type(item) is Around:
        return _method_problem("its function", what, item.on_message)
    overridden = [hook for hook in MIDDLEWARE_METHODS if _function(item, hook) is not getattr(Middleware, hook)]
    unknown = sorted({name for name in dir(item) if name.startswith("on_")} - set(MIDDLEWARE_METHODS))
    if unknown:
        close = nearest(unknown[0], MIDDLEWARE_METHODS)
        return f"{what}, whose {unknown[0]} is none of its methods" + (f"; did you mean {close}?" if close else "")
    if not overridden:
        return f"{what}, which overrides none of {', '.join(MIDDLEWARE_METHODS)}"
    return next((found for hook in overridden if (found := _method_problem(hook, what, getattr(item, hook)))), None)


def _function(item: Middleware, hook: str) -> Any:
    own = getattr(item, hook)
    return getattr(own, "__func__", own)


def _method_problem(hook: str, what: str, function: Any) -> str | None:
    if not callable(function):
        return f"{what}, of which {hook} is {type(function).__name__}, no function"
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return f"{what}, of which {hook} does not take a call and call_next"
    except ValueError:
        pass  # it has no signature to look at
    return None
