"""Who answers: from a file, or the whole workspace, to the servers that may run and be asked."""
