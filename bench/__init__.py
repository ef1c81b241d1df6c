"""Speed, memory and quality, measured side by side. ``python -m bench`` lists the benches."""
