"""One language server of one project: its processes, its documents, the changes it takes in."""
