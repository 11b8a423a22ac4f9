"""A tool that takes long says how far it has come, and ends when nobody waits any more."""

import asyncio

from pegboard import Context, Toolkit

kit = Toolkit("kitchen")


@kit.tool
async def cook(dishes: list[str], context: Context) -> str:
    """Cook dishes, one after the other."""
    for done, dish in enumerate(dishes, start=1):
        await asyncio.sleep(0)  # the cooking; a cancelled call ends here
        context.progress.report(done, total=len(dishes), message=f"{dish} is ready")
    return f"{len(dishes)} dishes are ready"


if __name__ == "__main__":
    kit.run()
