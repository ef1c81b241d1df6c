"""Python projects: the environment they use, and the names that imports give."""
