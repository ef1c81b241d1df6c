"""Making the search model: what is mined, and every step of it as one."""
