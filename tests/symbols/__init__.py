"""Names of a project: what they mean, where they are used, and what is wrong around them."""
