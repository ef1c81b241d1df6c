"""The code index. ``index`` is the door, ``show`` shows a part of a file.

``building`` keeps what ``storage`` holds in step with the files: ``reading`` reads them,
``cutting`` cuts them, ``terms`` are what is counted. ``searching`` answers, and ``dense`` by
meaning, too.
"""
