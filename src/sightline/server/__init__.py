"""Transports, sessions, tokens, logging, and the composition of a running server.

This package knows HTTP and pipes. It knows no tool.
"""
