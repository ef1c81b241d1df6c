"""Answering a search: what was meant, which chunks fit, in which order, and why."""
