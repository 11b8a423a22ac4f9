import os
from pathlib import Path
from typing import Annotated, Optional

import httpx
from arcade_ledger.models import Currency, Entry
from arcade_mcp_server import Context, tool
from arcade_mcp_server.auth import GitHub
from arcade_mcp_server.metadata import Behavior, Classification, Operation, ServiceDomain, ToolMetadata


def note_run(tool_name: str) -> None:
    if "LEDGER_RAN" in os.environ:
        Path(os.environ["LEDGER_RAN"], tool_name).touch()


@tool(
    requires_auth=GitHub(scopes=["repo"]),
    requires_secrets=["LEDGER_URL"],
    metadata=ToolMetadata(
        classification=Classification(service_domains=[ServiceDomain.SOURCE_CODE]),
        behavior=Behavior(
            operations=[Operation.READ], read_only=True, destructive=False, idempotent=True, open_world=True
        ),
    ),
)
async def fetch_entry(
    context: Context,
    number: Annotated[int, "The number of the entry"],
) -> Annotated[Entry, "The entry"]:
    """Fetch an entry of the ledger."""
    note_run("fetch_entry")
    headers = {"Authorization": f"Bearer {context.get_auth_token_or_empty()}"}
    async with httpx.AsyncClient() as client:
        response = await client.get(f"{context.get_secret('LEDGER_URL')}/entries/{number}", headers=headers)
    response.raise_for_status()
    return {**response.json(), "unknown": "left out"}


@tool(requires_secrets=["LEDGER_URL"])
def show_address(context: Context) -> Annotated[str, "The address"]:
    """Show the address of the ledger."""
    note_run("show_address")
    return context.get_secret("LEDGER_URL")


@tool
def convert(
    amount: Annotated[float, "The amount"],
    currencies: Annotated[list[Currency], "The currencies"],
    note: Annotated[Optional[str], "A remark"],
    factor: Annotated[float, "The factor"] = 2,
) -> Annotated[list[Entry], "One entry for each currency"]:
    """Convert an amount."""
    entries: list[Entry] = []
    for number, currency in enumerate(currencies):
        entry: Entry = {"number": number, "amount": amount * factor, "currency": str(Currency(currency).value)}
        entries.append({**entry, "note": note} if note else entry)
    return entries
