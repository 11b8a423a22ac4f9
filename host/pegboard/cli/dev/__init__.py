"""`pegboard dev`: a prompt that calls the tools of a file. Each save of the file starts a new version."""
