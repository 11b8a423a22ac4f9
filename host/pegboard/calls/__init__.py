"""The execution of authors' functions, each in its own call."""
