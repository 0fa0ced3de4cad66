"""Advisories in the OSV format (https://ossf.github.io/osv-schema/), from a file or a folder.

pip-audit asks a service for them and reads no local ones, so this looks them up itself.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile, is_zipfile

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from tests.supply.locks import Lock

ECOSYSTEM = "PyPI"
Advisory = Mapping[str, Any]


class Hit(NamedTuple):
    """A package that an advisory is about."""

    lock: str
    name: str
    version: str
    advisory: str

    def __str__(self) -> str:
        return f"{self.lock}: {self.name} {self.version} has {self.advisory}"


def read_advisories(path: Path) -> list[Advisory]:
    """Read a zip such as OSV's `all.zip`, a JSON file of one or many, or a folder of these."""
    return [one for one in _all(path) if not one.get("withdrawn")]


def _all(path: Path) -> Iterator[Advisory]:
    if path.is_dir():
        for file in sorted(path.rglob("*.json")):
            yield from _parsed(file.read_bytes())
    elif is_zipfile(path):
        with ZipFile(path) as whole:
            for name in whole.namelist():
                if name.endswith(".json"):
                    yield from _parsed(whole.read(name))
    else:
        yield from _parsed(path.read_bytes())


def _parsed(body: bytes) -> list[Advisory]:
    found = json.loads(body)
    return found if isinstance(found, list) else [found]


def find_hits(locks: Iterable[Lock], advisories: Iterable[Advisory]) -> Iterator[Hit]:
    """Find the pinned versions that advisories are about."""
    about: dict[str, list[tuple[str, Advisory]]] = {}
    for advisory in advisories:
        for affected in advisory.get("affected", ()):
            package = affected.get("package", {})
            if package.get("ecosystem") == ECOSYSTEM:
                name = canonicalize_name(package["name"])
                about.setdefault(name, []).append((advisory["id"], affected))
    for lock in locks:
        for pin in lock.pins:
            found = [
                one for one, affected in about.get(pin.name, ()) if _is_in(pin.version, affected)
            ]
            yield from (Hit(lock.name, pin.name, pin.version, one) for one in dict.fromkeys(found))


def _is_in(version: str, affected: Mapping[str, Any]) -> bool:
    """Return whether a version is affected: it is listed, or within a range (OSV, evaluation)."""
    held = Version(version)
    listed = any(_is_version(one, held) for one in affected.get("versions", ()))
    ranges = [one for one in affected.get("ranges", ()) if one.get("type") == "ECOSYSTEM"]
    return listed or any(_is_within(held, one["events"]) for one in ranges)


def _is_version(written: str, held: Version) -> bool:
    try:
        return Version(written) == held
    except InvalidVersion:
        return False


def _is_within(held: Version, events: Iterable[Mapping[str, str]]) -> bool:
    """Go through a range's events in the order of their versions."""
    order = {"introduced": 0, "fixed": 1, "last_affected": 2}
    told = [(_bound(at), order[kind], kind) for event in events for kind, at in event.items()
            if kind in order]  # fmt: skip
    within = False
    for at, _, kind in sorted(told):
        if kind == "introduced" and at <= held:
            within = True
        elif (kind == "fixed" and at <= held) or (kind == "last_affected" and at < held):
            within = False
    return within


def _bound(written: str) -> Version:
    """Return a bound; what is no version of PyPI's bounds nothing: it is taken for the first."""
    try:
        return Version(written)
    except InvalidVersion:
        return Version("0.dev0")
