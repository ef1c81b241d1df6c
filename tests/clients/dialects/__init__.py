"""The model APIs that clients speak, as far as a tool call and a last word need them.

Each module has ``read(body)``, what a request would have shown to the model, and ``call`` and
``say``, the bytes of an answer. They are written from what the clients send and accept.
"""
