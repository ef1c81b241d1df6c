"""What a file is before it is cut: its text, its language, what it is for."""
