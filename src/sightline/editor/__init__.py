"""A live editor window as a second answer source.

The editor's extension starts ``sightline serve --source editor`` and answers its questions over
the child's standard streams. This package is the child's side: messages, the connection, what is
known of the window, when its answers may be believed, and the ``Source`` made of all that. It
refuses to guess: an empty answer is believed only when the window has shown that it can answer.
"""
