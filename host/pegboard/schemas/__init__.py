"""Signatures of tools and JSON Schemas, compiled once."""
