"""The shared parts of the comparisons with other servers: `make porting`, `make peers` and `make toolkits`."""
