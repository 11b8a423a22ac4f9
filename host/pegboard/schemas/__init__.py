"""What arguments and results must be: signatures and schemas, compiled once."""
