"""A server's share of the workspace: which folders are projects, and which files are theirs."""
