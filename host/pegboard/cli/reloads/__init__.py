"""Reloads of server processes: requests, running hosts, and `pegboard reload`."""
