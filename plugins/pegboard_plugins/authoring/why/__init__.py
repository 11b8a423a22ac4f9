"""`pegboard why NAME`: the reason why a plugin, toolkit or tool is served or not."""
