"""`pegboard enable`, `disable` and `config set`: changes of the configuration file that keep its comments."""
