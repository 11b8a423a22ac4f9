"""Messages for models about invalid arguments and results, and checks for invisible characters."""
