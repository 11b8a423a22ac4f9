"""The scenarios over HTTP, and their client."""
