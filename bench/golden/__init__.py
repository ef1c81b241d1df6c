"""Answers about references on pinned code bases, compared with independent indexers.

``python -m bench.golden`` asks Sightline every question and writes one file of answers per code
base. Their diff is the review of a change to the engine. See docs/evidence/golden.md.
"""
