"""The execution of functions that authors wrote, each in its own call."""
