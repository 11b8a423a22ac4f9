"""`pegboard dev`: a prompt that calls the tools of a file, with the output of `other_servers`.

Each save of the file starts a new version.
"""
