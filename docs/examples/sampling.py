"""A tool asks the client's model, and does without where the client has none to lend."""

from pegboard import ClientCapabilityError, Context, Toolkit

kit = Toolkit("notes")


@kit.tool
async def summarise(text: str, context: Context) -> str:
    """Summarise a text in a sentence."""
    try:
        reply = await context.sampling.create_message(f"Summarise in a sentence: {text}", 100)
    except ClientCapabilityError:
        return text[:200]
    return reply.text


if __name__ == "__main__":
    kit.run()
