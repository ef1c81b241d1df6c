"""The code-search model: its weights, its vectors, and what they do in a search."""
