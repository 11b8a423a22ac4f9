"""`pegboard evals`: whether a model chooses the right tools. `other_servers` connects to servers by URL or command."""
