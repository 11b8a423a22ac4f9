"""Mounts servers of other libraries and languages in hosts, and compares what a client sees with the servers.

    python -m tools.peers                    # install, mount all, compare; print a table
    python -m tools.peers --only fastmcp     # servers whose name contains "fastmcp"
    python -m tools.peers --kill 1000        # kill each peer during 1,000 calls
    python -m tools.peers --minutes 10       # kill peers in turn, and show what the host holds
    python -m tools.peers --overrides FILE   # if the package index lacks a version that a library requires

Peers are small servers of ours (servers/). Published servers come from the package indexes (published.toml), with exact
versions and digests. A difference that reviewed.toml does not name with its reason fails the run.

The file of --overrides is a requirements file for `--override` of uv: the line `certifi` accepts each version of
certifi.
"""
