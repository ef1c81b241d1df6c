"""What a server is asked, and what its answers mean: the seven questions, whatever its dialect."""
