"""How a server is started, and what it may read, run and write once it is."""
