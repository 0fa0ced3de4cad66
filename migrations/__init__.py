"""The revisions of a database's tables, as this folder has them."""

from __future__ import annotations

import re
from importlib.resources import files
from importlib.resources.abc import Traversable

from engine.values.errors import StoreError

NUMBERED = re.compile(r"rev_(\d{4})_\w+\.py")
NUMBER = re.compile(r"\d{4}")
EXPANDS = "\nexpands = True\n"
NOTE_MIN_VERSION = """
INSERT INTO installation (name, value) VALUES ('min_version', :oldest)
ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""


def scripts() -> Traversable:
    """Return the folder of the migrations."""
    return files("migrations")


def revisions() -> list[str]:
    """Return every revision that has a migration, oldest first."""
    versions = scripts().joinpath("versions")
    found = (NUMBERED.fullmatch(file.name) for file in versions.iterdir())
    return sorted(name[1] for name in found if name)


def newest() -> str:
    """Return the revision that this version of Rostrum needs."""
    known = revisions()
    if not known:
        raise StoreError("This installation has no migrations; install Rostrum again.")
    return known[-1]


def min_version() -> str:
    """Return the oldest revision whose version of Rostrum may go on beside this one.

    Its processes then do so while a release is rolled out. A migration that only adds what they
    need not know says so: `expands = True`.
    """
    known = revisions()
    while len(known) > 1 and _expands(known[-1]):
        known.pop()
    return known[-1]


def _expands(revision: str) -> bool:
    versions = scripts().joinpath("versions")
    found = (file for file in versions.iterdir() if file.name.startswith(f"rev_{revision}_"))
    return any(EXPANDS in file.read_text(encoding="utf-8") for file in found)
