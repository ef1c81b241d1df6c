"""Real clients from configuration to answer, offline, against a stand-in for their model."""
