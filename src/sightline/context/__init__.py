"""Context under a budget: caches of documents, and selection from them.

``build`` writes a cache, ``load`` reads and verifies one, ``select`` ranks its documents for a
query and fills a token budget, ``caches`` keeps loaded caches and answers by name. The first
format, v0, is byte for byte that of the ``context`` command 0.1.0; docs/context.md says where this
program is more careful by default and what ``--strict-v0`` keeps.
"""
