"""Projects that `pegboard new` writes: their kinds, names and files.

`templates/` has the files. Those named after an example are copies of docs/examples, which `python -m tools.reference`
writes.
"""
