"""Loading of plugins and toolkits from entry points, and the problems of plugins that fail to load."""
