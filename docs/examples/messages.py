"""A tool logs to whoever runs the client, by the level that the client asked for, and to the host's own log."""

from pegboard import Context, Toolkit

kit = Toolkit("backup")


@kit.tool
async def run(folder: str, context: Context) -> str:
    """Back a folder up."""
    context.log.debug("looking for changes", folder=folder)
    context.log.warning("no backup for 12 days", folder=folder)
    return "done"


if __name__ == "__main__":
    kit.run()
