"""The tools by subject. Importing a module adds its tools to the toolkit."""
