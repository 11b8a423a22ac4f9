"""Content blocks: their rules, and the results of functions as content."""
