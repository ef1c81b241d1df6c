"""Judges that we did not write: official suites, official clients, real clients, and the kernel."""
