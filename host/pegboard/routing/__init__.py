"""HTTP routes, and the policies that decide which callers may use a route."""
