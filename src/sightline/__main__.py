"""``python -m sightline`` is the ``sightline`` command."""

from sightline.cli.launch import run

if __name__ == "__main__":
    run()
