"""A server of one toolkit introduces itself by the toolkit's words; `hostconfig.toml` can say more.

[host]
name = "acme-clock"
website_url = "https://acme.example/clock"
icons = ["https://acme.example/clock.png"]
instructions = "All times are UTC."
"""

from datetime import UTC, datetime

from pegboard import Toolkit

kit = Toolkit("clock", title="The clock", description="Tells the time.", version="2.1.0")


@kit.tool
def now() -> datetime:
    """Tell the time."""
    return datetime.now(UTC)


if __name__ == "__main__":
    kit.run()
