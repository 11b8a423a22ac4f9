"""A tool sends the user to a web page: for what a client must not see, such as a password or a payment."""

from pegboard import Context, Toolkit

kit = Toolkit("bank")


@kit.tool
async def connect(context: Context) -> str:
    """Connect a bank account."""
    answer = await context.ui.elicit_url("Please sign in to your bank.", "https://bank.example/connect?state=7f3a")
    return "The page was opened." if answer.accepted else "The account is not connected."


if __name__ == "__main__":
    kit.run()
