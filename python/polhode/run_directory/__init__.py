"""Runs stored in files: format, comparison, continuation."""
