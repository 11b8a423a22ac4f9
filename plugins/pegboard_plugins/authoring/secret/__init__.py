"""`pegboard secret`: list, set and remove the secrets of tools."""
