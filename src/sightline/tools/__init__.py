"""One file per tool: from a view of the workspace and arguments to the full canonical answer.

A tool knows its question, its answer and its one-line summary. It knows nothing of paging, byte
caps, clocks, retries or the wire; those are the same for every tool and live in ``calls``.
"""
