"""Plots, animations, tables and notebook views."""
