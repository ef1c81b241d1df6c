"""The clients ``sightline config`` knows: their files, their stanzas, and a check of both."""
