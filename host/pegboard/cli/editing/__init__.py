"""Changes of TOML files that keep their comments."""
