"""Occurrences of words in the files of a project, and what of them is code."""
