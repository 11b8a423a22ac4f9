"""The operator's secrets: their lookup in stores, their grants to toolkits, and their removal from logs and errors."""
