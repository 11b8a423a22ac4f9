"""Reloads of a running host: changed files and settings, and new versions of plugins and toolkits."""
