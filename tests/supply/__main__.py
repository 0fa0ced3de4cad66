"""Checks the locks, without a network: `python -m tests.supply [ADVISORIES]`.

Every package is pinned to one version with hashes, the locks agree with one another and with
pyproject.toml, and what the image installs has a known licence. Advisories are looked up if a file
of them is given. Whether a version was yanked is known to its index alone.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.supply.advisories import find_hits, read_advisories
from tests.supply.locks import HOLDS, ROOT, Lock, differences, missing, read_lock
from tests.supply.sbom import image_pins, license_of

WITHOUT = "Advisories were not looked up; name a file: make audit ADVISORIES=all.zip (OSV)."


def faults_of(locks: Sequence[Lock]) -> Iterator[str]:
    """Find everything that is wrong with the locks."""
    for lock in locks:
        yield from lock.faults
        yield from missing(lock, ROOT / "pyproject.toml")
    yield from differences(locks)
    for pin in image_pins():
        if not license_of(pin.name):
            yield f"{pin.name} {pin.version} declares no licence, or is not installed here"


def main(advisories: str = "") -> int:
    """Print what is wrong. Returns how much is."""
    locks = [read_lock(ROOT / name) for name in HOLDS]
    faults = list(faults_of(locks))
    for lock in locks:
        print(f"{lock.name:<28}{len(lock.pins):>5} packages")
    if advisories:
        known = read_advisories(Path(advisories))
        print(f"{len(known)} advisories read")
        faults += map(str, find_hits(locks, known))
    print("\n".join(faults) or "Nothing is wrong with the locks.")
    if not advisories:
        print(WITHOUT)
    return len(faults)


if __name__ == "__main__":
    sys.exit(bool(main(*sys.argv[1:])))
