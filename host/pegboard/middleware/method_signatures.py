"""The check of middleware when its plugin is loaded."""

from __future__ import annotations

import inspect
from typing import Any

from pegboard.middleware.around import Around
from pegboard.names import nearest
from pegboard.plugin.middleware import Middleware

MIDDLEWARE_METHODS = tuple(name for name in vars(Middleware) if name.startswith("on_"))
"""The methods that a middleware may override."""


def as_middleware(item: object) -> object:
    """Return the middleware for a plain function. Return any other object unchanged."""
    return Around(item) if callable(item) and not isinstance(item, type | Middleware) else item


def middleware_problem(item: Middleware) -> str | None:
    """Return the reason why a middleware is invalid, or None if it is valid."""
    what = type(item).__name__ if type(item) is not Around else "middleware"
    name: object = item.name
    if not isinstance(name, str | None):
        return f"{what} whose name is not a string"
    if type(item) is Around:
        return _method_problem("function", what, item.on_message)
    overridden = [hook for hook in MIDDLEWARE_METHODS if _function(item, hook) is not getattr(Middleware, hook)]
    unknown = sorted({name for name in dir(item) if name.startswith("on_")} - set(MIDDLEWARE_METHODS))
    if unknown:
        close = nearest(unknown[0], MIDDLEWARE_METHODS)
        return f"{what} with the unknown method {unknown[0]}" + (f"; did you mean {close}?" if close else "")
    if not overridden and all(_function(item, name) is getattr(Middleware, name) for name in ("assembled", "check")):
        return f"{what} that overrides no method: override one of {', '.join(MIDDLEWARE_METHODS)}"
    return next((problem for hook in overridden if (problem := _method_problem(hook, what, getattr(item, hook)))), None)


def _function(item: Middleware, hook: str) -> Any:
    own = getattr(item, hook)
    return getattr(own, "__func__", own)


def _method_problem(hook: str, what: str, function: Any) -> str | None:
    if not callable(function):
        return f"{what} whose {hook} is {type(function).__name__}, not a function"
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return f"{what} whose {hook} does not take a call and call_next"
    except ValueError:
        pass  # a function without a signature
    return None
