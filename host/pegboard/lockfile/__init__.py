"""`pegboard.lock`: the definitions that an operator has accepted, their digests, and differences."""
