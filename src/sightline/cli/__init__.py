"""The ``sightline`` command: the only place that knows argv, the environment and exit codes."""
