"""The code index: what it finds, how fresh it is, and what it survives."""
