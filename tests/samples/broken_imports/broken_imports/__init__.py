"""Here `kit` is no toolkit."""

kit = "a toolkit"
