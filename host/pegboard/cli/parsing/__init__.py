"""The command line: the arguments of each command, and the parser."""
