"""Sessions over Streamable HTTP: who they are, their calls, their streams, and what is kept of both."""
