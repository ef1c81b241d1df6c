"""Tests. The folders mirror src/sightline; ``system`` holds what needs the whole program."""
