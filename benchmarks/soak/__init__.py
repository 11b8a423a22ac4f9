"""A long run under mixed load that checks that memory, descriptors and threads stay level."""
