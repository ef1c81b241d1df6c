"""Context from code: caches of declarations, the live index, and what to take from them."""
