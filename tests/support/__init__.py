"""What tests drive Sightline with: real processes, raw sockets, real clients."""
