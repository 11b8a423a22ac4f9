"""Secrets of the operator: stores, grants, and their removal from everything that the host tells."""
