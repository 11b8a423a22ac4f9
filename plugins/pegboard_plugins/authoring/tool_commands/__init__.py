"""`pegboard list`, `show` and `call`: the tools of the host."""
