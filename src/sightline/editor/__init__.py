"""A live editor window as a second answer source. Not built yet; see the catalogue of sources."""
