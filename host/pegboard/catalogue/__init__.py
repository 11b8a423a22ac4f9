"""The catalogue of a host: bound definitions, their assembly and lists, and changes while the host runs."""
