"""Generated messages against the protocol, in process and over sockets.

``python -m tests.fuzz --messages 1000000 --socket-messages 20000 --seed 1``. Whatever is sent, the
program must not crash, hang, repeat what it was sent, or answer anything outside a small grammar.
A failure prints the seed and the message; the same seed generates the same messages.
"""
