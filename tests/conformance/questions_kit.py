"""The toolkit for scenarios of the official suite with questions: forms, sampling, roots, several rounds."""

from __future__ import annotations

from dataclasses import make_dataclass
from typing import Any

from pegboard import ClientCapabilityError, Context, Elicited, Toolkit
from pegboard.types import Elicit, ListRoots, Sample

kit = Toolkit("questions", prefix=False)

Contact: Any = make_dataclass("Contact", [("username", str), ("email", str)])
Person: Any = make_dataclass("Person", [("name", str)])
Confirmation: Any = make_dataclass("Confirmation", [("ok", bool)])
Colour: Any = make_dataclass("Colour", [("color", str)])
Setting: Any = make_dataclass("Setting", [("context", str)])


def said(answer: Elicited[Any]) -> str:
    return f"action={answer.action}, content={answer.content}"


async def name_of(context: Context, key: str) -> str:
    answer = await context.ui.elicit("What is your name?", Person, name=key)
    return answer.content.name if answer.content else "stranger"


# --- in sessions


@kit.tool
async def test_sampling(prompt: str, context: Context) -> str:
    """Ask the client's model."""
    answer = await context.sampling.create_message(prompt, 100)
    return f"LLM response: {answer.text}"


@kit.tool
async def test_elicitation(message: str, context: Context) -> str:
    """Ask the person for a contact."""
    return "User response: " + said(await context.ui.elicit(message, Contact))


DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
TITLED = [{"const": f"value{number}", "title": f"Option {number}"} for number in (1, 2, 3)]
PLAIN = ["option1", "option2", "option3"]
CHOICES = {
    "untitledSingle": {"type": "string", "enum": PLAIN},
    "titledSingle": {"type": "string", "oneOf": TITLED},
    "legacyEnum": {"type": "string", "enum": PLAIN, "enumNames": ["Option 1", "Option 2", "Option 3"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": PLAIN}},
    "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
}


@kit.tool
async def test_elicitation_sep1034_defaults(context: Context) -> str:
    """Ask with a default for every kind of field."""
    schema = {"type": "object", "properties": DEFAULTS, "required": []}
    return "Elicitation completed: " + said(await context.ui.elicit("Please check these values.", schema))


@kit.tool
async def test_elicitation_sep1330_enums(context: Context) -> str:
    """Ask with every kind of choice."""
    schema = {"type": "object", "properties": CHOICES, "required": []}
    return "Elicitation completed: " + said(await context.ui.elicit("Please choose.", schema))


# --- in rounds


@kit.tool
async def test_input_required_result_elicitation(context: Context) -> str:
    """Greet the person by name."""
    return f"Hello, {await name_of(context, 'user_name')}!"


@kit.tool
async def test_input_required_result_sampling(context: Context) -> str:
    """Ask the client's model for a capital."""
    answer = await context.sampling.create_message("What is the capital of France?", 100, name="capital_question")
    return f"The model says: {answer.text}"


@kit.tool
async def test_input_required_result_list_roots(context: Context) -> str:
    """Count the client's roots."""
    roots = await context.resources.list_roots(name="client_roots")
    return f"{len(roots)} roots: " + ", ".join(root.uri for root in roots)


@kit.tool
async def test_input_required_result_request_state(context: Context) -> str:
    """Answer only when the state came back."""
    answer = await context.ui.elicit("Go on?", Confirmation, name="confirm")
    return "state-ok" if answer.content and answer.content.ok else "not confirmed"


@kit.tool
async def test_input_required_result_tampered_state(context: Context) -> str:
    """Ask, and take no state that was changed on its way."""
    return said(await context.ui.elicit("Go on?", Confirmation, name="confirm"))


@kit.tool
async def test_input_required_result_multiple_inputs(context: Context) -> str:
    """Ask three questions of different kinds at once."""
    answers = await context.ask(
        user_name=Elicit("What is your name?", Person),
        capital_question=Sample("What is the capital of France?", 100),
        client_roots=ListRoots(),
    )
    return f"{said(answers['user_name'])}, {answers['capital_question'].text}, {len(answers['client_roots'])} roots"


@kit.tool
async def test_input_required_result_multi_round(context: Context) -> str:
    """Ask a second question that follows from the answer to the first."""
    name = await name_of(context, "step1")
    second = await context.ui.elicit(f"Step 2: {name}, what is your favourite colour?", Colour, name="step2")
    return f"{name}: {said(second)}"


@kit.tool
async def test_input_required_result_capabilities(context: Context) -> str:
    """Ask the person where the client can, else its model."""
    try:
        return await name_of(context, "user_name")
    except ClientCapabilityError:
        return (await context.sampling.create_message("Invent a name.", 100, name="invented")).text


@kit.prompt
async def test_input_required_result_prompt(context: Context) -> str:
    """A prompt that asks for its setting."""
    answer = await context.ui.elicit("In which context?", Setting, name="user_context")
    return f"Proceed with: {said(answer)}"
