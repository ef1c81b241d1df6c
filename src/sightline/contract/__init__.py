"""Pure values and rules of the wire contract.

Nothing here touches a file, a clock, the environment or an event loop, so every rule can be
tested by value. Everything above may import this package; it imports nothing of Sightline.
"""
