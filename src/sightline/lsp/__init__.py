"""Headless language servers as an answer source.

``registry`` says which servers exist (data), ``client`` speaks the protocol, ``server`` runs one of
them and decides when it may be believed, ``pool`` routes questions and is the ``Source``.
"""
