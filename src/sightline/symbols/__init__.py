"""From a name to the symbol it names, and from there to what is known of it.

A declaration is found in the text of the project, by the grammar of its language. What else
belongs to it, its uses above all, is asked of the answer source.
"""
