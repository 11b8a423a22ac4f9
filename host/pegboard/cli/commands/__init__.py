"""The code of each command. A module is imported when its command runs."""
