"""The folders a server may speak of: roots, the gate, files, changes, epochs, and views of them.

Nothing here writes to a workspace or runs anything in it.
"""
