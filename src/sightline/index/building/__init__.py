"""Keeping an index in step with its files: what is due, and the processes that do it."""
