"""Loading of plugins and toolkits from entry points, and problems with those that do not run."""
