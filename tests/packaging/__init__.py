"""The distributions: what is in them, and that they install where nothing else is."""
