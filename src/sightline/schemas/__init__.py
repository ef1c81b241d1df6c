"""The schema files of every tool: ``tools/<tool name>.json`` and ``.output.json``. Data only."""
