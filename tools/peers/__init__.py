"""Mounts servers of other libraries and languages in one host, and compares what a client sees with the servers.

    python -m tools.peers                    # install, mount all, compare; print a table
    python -m tools.peers --only fastmcp     # peers whose name contains "fastmcp", with all differences
    python -m tools.peers --kill 1000        # kill each peer during 1,000 calls
    python -m tools.peers --minutes 10       # kill peers in turn, and show what the host holds
    python -m tools.peers --overrides FILE   # if the package index lacks a version that a library requires

The file is a requirements file for `--override` of uv: the line `certifi` accepts each version of certifi.
"""
