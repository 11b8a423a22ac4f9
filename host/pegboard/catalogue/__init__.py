"""What the host serves: definitions bound, put together, listed, and changed while it runs."""
