"""JSON-RPC 2.0 and the Model Context Protocol as a state machine without I/O.

Bytes go in, effects come out: answers to send, calls to start, calls to cancel. Transports own
sockets, clocks and tasks; this package owns what a message means and when a peer may say it.
"""
