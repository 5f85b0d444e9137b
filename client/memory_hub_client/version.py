"""The version of this package, in one place for its code (pyproject.toml has the other)."""

__version__ = "0.1.0"
