"""The command line and its problem files."""
