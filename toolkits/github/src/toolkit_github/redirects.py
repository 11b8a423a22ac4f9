"""Allowed redirects: with the token only within the API, without it to files on other hosts. No I/O."""

from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from toolkit_github.config import is_loopback

__all__ = ["elsewhere", "inside"]


def inside(base: str, url: str, location: str) -> str | None:
    """Return the target of a redirect of `url` if it is below `base`, else None. The token must not leave `base`."""
    target, parts = _parsed(url, location)
    if target is None or parts is None:
        return None
    top = urlsplit(base)
    names = unquote(parts.path).split("/")
    if _origin(parts) != _origin(top) or not parts.path.startswith(top.path + "/") or {".", ".."} & set(names):
        return None
    return target


def elsewhere(base: str, url: str, location: str) -> str | None:
    """Return the target of a redirect to a file if it may be fetched without the token, else None.

    The target must use https, unless the API is on this machine.
    """
    target, parts = _parsed(url, location)
    if target is None or parts is None or target == url:
        return None
    local = is_loopback(urlsplit(base).hostname or "") and is_loopback(parts.hostname or "")
    return target if parts.scheme == "https" or (parts.scheme == "http" and local) else None


def _parsed(url: str, location: str) -> tuple[str, SplitResult] | tuple[None, None]:
    if not location or not location.isascii() or not location.isprintable() or set(location) & set(' \\"<>'):
        return None, None
    try:
        target = urljoin(url, location)
        parts = urlsplit(target)
        usable = bool(parts.hostname) and parts.port != 0 and parts.username is None
    except ValueError:
        return None, None
    return (target.partition("#")[0], parts) if usable else (None, None)


def _origin(parts: SplitResult) -> tuple[str, str | None, int]:
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
