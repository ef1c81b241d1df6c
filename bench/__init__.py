"""Speed, memory and quality, measured side by side. ``python -m bench`` lists the benches."""

# Before numpy is imported anywhere: it keeps numpy's library to one thread, as in the program.
import sightline  # noqa: F401
