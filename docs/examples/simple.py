"""A tool is a function with types and a docstring.

$ pegboard call --file simple.py simple_greet name=Ada
Hello, Ada!
$ pegboard call --file simple.py simple_greet name=Ada times:=2
Hello, Ada! Hello, Ada!
$ pegboard call --file simple.py simple_greet name=Ada times:=9
pegboard: Invalid arguments:
pegboard: times: must be at most 3
pegboard: `pegboard show --file simple.py simple_greet` lists the parameters; write other types as key:=json
"""

from typing import Annotated

from pydantic import Field

from pegboard import Toolkit

kit = Toolkit("simple")


@kit.tool
def greet(name: Annotated[str, "who is greeted"], times: Annotated[int, Field(ge=1, le=3)] = 1) -> str:
    """Greet somebody."""
    return " ".join([f"Hello, {name}!"] * times)


if __name__ == "__main__":
    kit.run()
