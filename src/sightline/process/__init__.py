"""Child processes: each tree in a group of its own, with a keeper that ends it when we die.

Everything that starts a process does it through ``spawn``; nobody ends one by any other way than
``Child.end``. There is one order of ending: ask (TERM), wait two seconds, force (KILL).
"""
