"""`pegboard dev`: the tools of a file at a prompt. A save starts a new version of the file."""
