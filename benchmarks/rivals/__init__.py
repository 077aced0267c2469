"""Other programs for the same work, each behind one interface, and the cases that time them.

Each module with an underscore is a program; one that is not installed has rows that say so.
"""
