"""A long run under mixed load, which checks that memory, descriptors and threads do not grow."""
