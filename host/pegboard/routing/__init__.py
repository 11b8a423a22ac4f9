"""HTTP routes: which one answers a request, and which callers its policy admits."""
