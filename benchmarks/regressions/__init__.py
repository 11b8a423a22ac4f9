"""Comparison of key paths with an earlier revision: `make regressions`."""
