"""Headless language servers as an answer source.

``pool`` is the ``Source``. A question goes from ``routing`` (who answers) through ``asking`` (what
is asked) to a ``server``, over its ``wire``; ``coverage`` says what the answer may lack.
``registry`` says which servers exist: data.
"""
