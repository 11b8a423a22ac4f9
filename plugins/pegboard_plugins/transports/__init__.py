"""Transports that carry messages: HTTP, and standard input and output."""
