"""Values are built when they are first used; here all of them are, so that no mistake waits."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module

import adapters
import bot
import engine
from engine.run.run import build_values
from engine.values.debate import Value


def _subclasses(value: type[Value]) -> Iterator[type[Value]]:
    for subclass in value.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def test_every_value_can_be_built() -> None:
    for package in (adapters, bot, engine):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            import_module(found.name)
    build_values()
    built = set(_subclasses(Value))
    assert len(built) > 100
    assert all(value.__pydantic_complete__ for value in built)
