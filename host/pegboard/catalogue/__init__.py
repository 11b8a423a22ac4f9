"""The catalogue: definitions bound to a host, put together, listed, and changed while it runs."""
