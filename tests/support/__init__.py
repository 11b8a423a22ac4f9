"""Helpers of several groups of tests."""
