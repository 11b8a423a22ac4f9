"""The work of operators: logs, metrics, limits, caches, and the lock of the catalogue."""
