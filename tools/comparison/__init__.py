"""What the comparisons with other servers share: `make porting`, `make peers` and `make toolkits`."""
