"""How the code-search model in the wheel was made: mining, packing, training, evaluation, export.

Nothing here is part of the package and nothing here runs when Sightline serves. ``README.md`` gives
the steps; ``make model`` runs them all.
"""
