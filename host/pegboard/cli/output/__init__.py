"""The output of commands: the log, records for `--json`, and the content of results."""
