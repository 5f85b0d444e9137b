"""Writes of the library room, one module per noun."""
