"""The lock files as values, and what is wrong with them; nothing here needs a network."""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
RUNTIME, DATASETS = "requirements.lock", "requirements-datasets.lock"
# Which groups and extras of pyproject.toml each lock holds, as `make lock` writes them.
HOLDS: Mapping[str, tuple[str, ...]] = {
    RUNTIME: ("build",),
    "requirements-dev.lock": ("hub", "otel", "parquet", "scale", "build", "dev"),
    "requirements-image.lock": ("hub", "otel", "parquet", "scale", "build"),
    "requirements-browser.lock": ("browser",),
    DATASETS: ("build", "datasets"),
}
_HASH = re.compile(r"--hash=(\S+)")
_SHA256 = re.compile(r"sha256:[0-9a-f]{64}")
_VIA = re.compile(r"#\s+(?:via\s+)?([\w.\[\]-]+)(?: \(.*\))?$")


class Pin(NamedTuple):
    """One package of a lock: its hashes, where it is installed, and which packages ask for it."""

    name: str
    version: str
    hashes: tuple[str, ...]
    marker: Marker | None
    via: tuple[str, ...]


class Lock(NamedTuple):
    """A lock file's packages, and the lines that are none."""

    name: str
    pins: tuple[Pin, ...]
    faults: tuple[str, ...]

    def versions(self) -> dict[str, set[tuple[str, tuple[str, ...]]]]:
        """Return the versions and hashes of each package; several have different markers."""
        found = defaultdict(set)
        for pin in self.pins:
            found[pin.name].add((pin.version, pin.hashes))
        return found


def read_lock(path: Path) -> Lock:
    """Read a lock file."""
    pins, faults = list[Pin](), list[str]()
    for number, entry, via in _entries(path.read_text("utf-8")):
        try:
            pins.append(_pin(entry, via))
        except ValueError as error:
            faults.append(f"{path.name}:{number}: {error}")
    return Lock(path.name, tuple(pins), tuple(faults))


def _entries(text: str) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Yield the line number, requirement and askers of each entry."""
    held: list[tuple[int, str, list[str]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        said = line.strip()
        if said.startswith("#"):
            if held and (asked := _VIA.match(said)) and asked[1] != "via":
                held[-1][2].append(asked[1])
        elif said.startswith("--hash=") and held:
            first, entry, via = held[-1]
            held[-1] = first, f"{entry} {said}", via
        elif said:
            held.append((number, said, []))
    yield from ((number, entry.replace("\\", " "), tuple(via)) for number, entry, via in held)


def _pin(entry: str, via: Sequence[str]) -> Pin:
    """Read an entry. Raises ValueError for one that could install anything but one known file."""
    written, hashes = entry.split(" --hash", 1)[0].strip(), tuple(_HASH.findall(entry))
    try:
        wanted = Requirement(written)
    except InvalidRequirement:
        raise ValueError(f"“{written[:60]}” is no package by its name") from None
    exact = [one for one in wanted.specifier if one.operator == "==" and "*" not in one.version]
    if wanted.url or len(exact) != 1 or len(wanted.specifier) != 1:
        raise ValueError(f"{wanted.name} is not pinned to one version")
    if not hashes or not all(map(_SHA256.fullmatch, hashes)):
        raise ValueError(f"{wanted.name} has no SHA-256, or something else beside one")
    plain = tuple(sorted(one.removeprefix("sha256:") for one in hashes))
    asked = tuple(canonicalize_name(one) for one in via if not one.startswith(("-", "(")))
    return Pin(canonicalize_name(wanted.name), exact[0].version, plain, wanted.marker, asked)


# --- what is wrong -----------------------------------------------------------------------


def differences(locks: Sequence[Lock]) -> Iterator[str]:
    """Find packages of which two locks have other versions or hashes.

    The tools of the datasets' lock live in an environment of their own: that lock has to agree
    with what runs, and not with the developers' tools.
    """
    for one, other in combinations(locks, 2):
        if DATASETS in (one.name, other.name) and RUNTIME not in (one.name, other.name):
            continue
        theirs = other.versions()
        for name, held in one.versions().items():
            if name in theirs and not (held <= theirs[name] or theirs[name] <= held):
                yield f"{one.name} and {other.name} differ in {name}; run make lock"


def missing(lock: Lock, pyproject: Path) -> Iterator[str]:
    """Find what pyproject.toml asks for and a lock does not hold."""
    held = defaultdict(list)
    for pin in lock.pins:
        held[pin.name].append(Version(pin.version))
    for wanted in map(Requirement, _wanted(lock.name, pyproject)):
        found = held[canonicalize_name(wanted.name)]
        if not any(wanted.specifier.contains(one, prereleases=True) for one in found):
            yield f"{lock.name} does not hold “{wanted}” of {pyproject.name}; run make lock"


def _wanted(lock: str, pyproject: Path) -> Iterator[str]:
    whole = tomllib.loads(pyproject.read_text("utf-8"))
    project = whole["project"]
    if lock != "requirements-browser.lock":
        yield from project["dependencies"]
    for name in HOLDS[lock]:
        yield from project["optional-dependencies"].get(name) or whole["dependency-groups"][name]
