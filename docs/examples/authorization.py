"""A tool that acts for a user at another service says whose token it needs, and is handed one. Here it comes from a
variable; who keeps tokens, and where a user authorizes, is the business of plugins.

$ PEGBOARD__PLUGINS__STATIC_TOKENS__TOKENS__GITHUB=t-12345 pegboard call --file authorization.py stars_add name=octo/cat
starred octo/cat with a token of 7 characters
"""

from typing import Annotated

from pegboard import Context, Toolkit
from pegboard_plugins.auth.auth_providers import GitHub

kit = Toolkit("stars")


@kit.tool(requires_auth=GitHub(scopes=["public_repo"]))
def add(name: Annotated[str, "such as octo/cat"], context: Context) -> str:
    """Star a repository for the user."""
    return f"starred {name} with a token of {len(context.get_auth_token_or_empty())} characters"


if __name__ == "__main__":
    kit.run()
