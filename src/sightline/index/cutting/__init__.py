"""Cutting files into chunks at what people would call their parts."""
