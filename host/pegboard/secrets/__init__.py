"""Secrets of the operator: stores, grants, and their removal from logs and errors."""
