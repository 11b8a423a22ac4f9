"""Messages for models: problems of arguments and results, and invisible characters."""
