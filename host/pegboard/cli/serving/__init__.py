"""The process of a serving host."""
