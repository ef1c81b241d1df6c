"""Ways to run the search model on a CPU, side by side."""
