"""The rules for content blocks, and the conversion of functions' results to content."""
