"""The tests of pegboard; never part of a wheel."""
