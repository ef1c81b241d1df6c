"""What lies on disk, and what a search sees of it at one moment."""
