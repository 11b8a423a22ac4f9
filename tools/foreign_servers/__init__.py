"""Runs servers for other frameworks, unchanged and with a changed import, and compares the two.

The servers are the examples of the frameworks, servers of the package index (published.toml), and programs of ours with
what no example uses. The examples come from source distributions, pinned by hash. Nothing of them is stored in the
repository. A difference that reviewed.toml does not name with its reason fails the run.

    python -m tools.foreign_servers              # download, run and compare all; print a table
    python -m tools.foreign_servers --only echo  # what contains "echo", with all differences
    python -m tools.foreign_servers --resume     # continue a run that was interrupted
    python -m tools.foreign_servers --overrides FILE  # if the package index lacks a version that a framework requires

The file is a requirements file for `--override` of uv: the line `certifi` accepts each version of certifi.
"""
