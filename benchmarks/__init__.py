"""Measurements of pegboard beside the official SDK and a bare floor, in one run. Run it with `python -m benchmarks`."""
