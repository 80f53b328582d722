"""Publish a table about people with a promise that anyone can check; answer counts from it with honest intervals."""

import lazy_loader

from discreet import families as families  # the table of families is filled before anything is asked of it

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
