"""Resources are what a client can read: one of a fixed address, and many by a template with a variable.

$ pegboard call --file resources.py library_find title=emma
book://emma
"""

from pegboard import ToolExecutionError, Toolkit

BOOKS = {"emma": "Emma Woodhouse, handsome, clever, and rich", "moby-dick": "Call me Ishmael."}

kit = Toolkit("library")


@kit.resource("library://titles", mime_type="application/json")
def titles() -> list[str]:
    """All titles."""
    return list(BOOKS)


@kit.resource("book://{title}", completions={"title": list(BOOKS)})
def book(title: str) -> str | None:
    """How a book begins."""
    return BOOKS.get(title)  # None: there is no such resource


@kit.tool
def find(title: str) -> str:
    """Find the address of a book."""
    if title not in BOOKS:
        raise ToolExecutionError(f"There is no book {title!r}.")
    return f"book://{title}"


if __name__ == "__main__":
    kit.run()
