"""Prompts are what a user picks from a menu; their arguments are checked, converted and completed."""

from typing import Literal

from pegboard import PromptMessage, Toolkit

kit = Toolkit("prompts")


@kit.prompt(title="Review some code")
def review(code: str, language: Literal["python", "rust", "go"] = "python", strict: bool = False) -> str:
    """Ask for a review."""
    how = "Spare nothing." if strict else "Be kind."
    return f"Review this {language} code. {how}\n\n{code}"


@kit.prompt
def interview(topic: str) -> list[PromptMessage]:
    """Begin a conversation."""
    return [
        PromptMessage(f"I want to learn about {topic}. Ask me what I know already."),
        PromptMessage("Gladly. What have you read about it so far?", role="assistant"),
    ]


if __name__ == "__main__":
    kit.run()
