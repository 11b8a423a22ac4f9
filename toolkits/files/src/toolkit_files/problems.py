"""Problems with files, in sentences for the caller.

FileProblem             its message goes to clients: it names paths below the roots, or the caller's own text
│   correctable=True    another argument would help
│   correctable=False   only the operator can help
└── Cancelled           the call was cancelled
"""

import errno

__all__ = ["Cancelled", "FileProblem", "explain", "printable", "quoted"]

_CORRECTABLE = {
    errno.ENOENT: "{path} no longer exists.",
    errno.EEXIST: "{path} already exists.",
    errno.ENOTDIR: "{path} is not a directory.",
    errno.EISDIR: "{path} is a directory.",
    errno.ELOOP: "{path} is a symbolic link; links are not followed.",
    errno.ENAMETOOLONG: "{path} has a name that is too long for this file system.",
    errno.ENOTEMPTY: "{path} is a directory that is not empty.",
    errno.EXDEV: "{path} is on another file system; it can be written anew there, not moved.",
    errno.EILSEQ: "{path} has a name that this file system does not accept.",
}
_FINAL = {
    errno.EACCES: "The host has no permission for {path}.",
    errno.EPERM: "The system does not permit this on {path}.",
    errno.EROFS: "{path} is on a file system that is read-only.",
    errno.ENOSPC: "There is no space left for {path}.",
    errno.EDQUOT: "The disk quota leaves no space for {path}.",
    errno.EFBIG: "{path} would become too large for this file system.",
    errno.EBUSY: "{path} is in use by the system.",
    errno.EAGAIN: "{path} has nothing to read right now.",
    errno.EMFILE: "The host has too many files open; try again later.",
    errno.ENFILE: "The system has too many files open; try again later.",
}


class FileProblem(Exception):
    """A problem whose message is sent to the caller. `correctable` means that different arguments would help."""

    def __init__(self, message: str, *, correctable: bool = True) -> None:
        """Store the message for the caller."""
        super().__init__(message)
        self.message = message
        self.correctable = correctable


class Cancelled(FileProblem):
    """The call was cancelled."""

    def __init__(self) -> None:
        """Set the message."""
        super().__init__("The call was cancelled.", correctable=False)


def explain(error: OSError, path: str) -> FileProblem:
    """Convert an error of the operating system into a FileProblem about `path`."""
    code = error.errno or 0
    known = _CORRECTABLE.get(code) or _FINAL.get(code)
    sentence = (
        known or "{path} could not be used: the system answered " + errno.errorcode.get(code, "an unknown error") + "."
    )
    return FileProblem(sentence.format(path=quoted(path)), correctable=code in _CORRECTABLE)


def printable(name: str) -> str:
    r"""Return a file name as valid Unicode: bytes that are not UTF-8 become `\xff`."""
    if name.isascii():
        return name
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def quoted(path: str, limit: int = 200) -> str:
    """Return a path in quotes for messages: shortened, without control characters."""
    if len(path) > limit:
        path = path[:limit] + "..."
    return "'" + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in path) + "'"
