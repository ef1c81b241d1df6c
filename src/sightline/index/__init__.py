"""The code index: discover, chunk, store, rank, search."""
