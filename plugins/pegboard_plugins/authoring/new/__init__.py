"""`pegboard new`: the projects that it writes, with their kinds, names and files.

`templates/` has the files. Those named after an example are copies of docs/examples, which `python -m tools.reference`
writes.
"""
