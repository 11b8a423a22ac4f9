"""Commands for people who write tools and run servers."""
