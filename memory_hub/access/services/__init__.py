"""Writes of the access room, one module per noun."""
