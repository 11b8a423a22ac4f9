"""Errors that a model can act on: what it may correct, what it must ask the user, what nobody can help.

$ pegboard call --file typed_errors.py mail_send to=ada text=Hello
pegboard: 'ada' is no address.
pegboard: Write it as name@example.com.
$ pegboard call --file typed_errors.py mail_send to=john@example.com text=Hello
pegboard: There are two Johns.
pegboard: John Doe or John Roe
$ pegboard call --file typed_errors.py mail_send to=ada@example.com text=
pegboard: An empty mail is not sent.
"""

from pegboard import ContextRequiredToolError, FatalToolError, RetryableToolError, Toolkit

kit = Toolkit("mail")


class EmptyMailError(FatalToolError):
    """Errors of your own are subclasses."""


@kit.tool
def send(to: str, text: str) -> str:
    """Send a mail."""
    if "@" not in to:
        raise RetryableToolError(f"{to!r} is no address.", additional_prompt_content="Write it as name@example.com.")
    if to.startswith("john@"):
        raise ContextRequiredToolError("There are two Johns.", additional_prompt_content="John Doe or John Roe")
    if not text:
        raise EmptyMailError("An empty mail is not sent.")
    return "sent"


if __name__ == "__main__":
    kit.run()
