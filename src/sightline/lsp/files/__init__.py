"""Reading files of a project within bounds, and the patterns that choose among them."""
