"""What the package offers at its root."""

import inspect

import discreet


def test_every_public_name_exists_and_has_a_docstring():
    """`from discreet import *` gives exactly the documented things."""
    for name in discreet.__all__:
        assert inspect.getdoc(getattr(discreet, name)), name


def test_every_public_function_is_fully_typed():
    """Parameters and results of public functions and methods have types."""
    for name in discreet.__all__:
        thing = getattr(discreet, name)
        functions = (
            [thing]
            if inspect.isfunction(thing)
            else [each for _, each in inspect.getmembers(thing, inspect.isfunction)]
        )
        for function in functions:
            if function.__module__.startswith("discreet") and not function.__name__.startswith("_"):
                hints = function.__annotations__
                wanted = {each for each in inspect.signature(function).parameters if each not in ("self", "cls")}
                assert wanted <= set(hints), function
                assert "return" in hints, function
