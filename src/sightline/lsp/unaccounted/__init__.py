"""Which occurrences of a name an answer does not account for: one rule for every language.

The occurrences of the identifier in code, minus the reported places, are resolved one by one by a
definition request. What leads to the symbol is added, what leads elsewhere is dropped, and what
leads nowhere is unaccounted for.
"""
