"""One module per command: ``parser(name)`` and ``run(arguments) -> exit code``."""
