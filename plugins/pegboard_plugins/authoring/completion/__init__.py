"""Scripts that complete the command line in shells, generated from the parser."""
