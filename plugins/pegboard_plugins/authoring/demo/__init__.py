"""`pegboard demo`: a client calls the tools of a server, and each message is shown."""
