"""``python -m sightline`` is the ``sightline`` command."""

from sightline.cli.main import run

if __name__ == "__main__":
    run()
