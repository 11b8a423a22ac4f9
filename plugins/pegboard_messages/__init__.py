"""pegboard_messages: the messages of MCP as typed dictionaries, one module for each revision.

The product does not use them. `python -m tools.message_types` writes the modules.
"""
