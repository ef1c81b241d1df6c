"""Context under a budget: caches, and selection from them."""
