"""The one path of every call, whichever transport it came by.

find -> validate -> admit -> deadline and cancel scope -> view -> remembered answer or shared
computation -> retain and slice -> encode -> cap. ``families`` alone spells a family's codes.
"""
