"""Writes what the container image installs as a CycloneDX document: `python -m tests.supply.sbom`.

It is made of the lock, so the same lock gives the same document; licences are read from the
packages that are installed here.
"""

import re
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from uuid import UUID

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from bot import __version__
from tests.supply.locks import ROOT, Pin, read_lock

IMAGE = ROOT / "requirements-image.lock"
OUT = ROOT / "build" / "sbom" / "rostrum.cdx.json"
OURS = "rostrum-debates"
# Where the image runs (deploy/Dockerfile); the machine's architecture is that of the reader.
# Packages that declare none, and the licence whose text is in them.
READ = {"resvg-py": "MIT"}
LINUX = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"}


def image_pins() -> list[Pin]:
    """Return what the image installs: the lock's packages for Linux and the image's Python."""
    python = re.search(r"^FROM python:([0-9.]+)", (ROOT / "deploy/Dockerfile").read_text(), re.M)
    assert python, "deploy/Dockerfile begins with no Python"
    where = LINUX | {"python_version": python[1], "python_full_version": f"{python[1]}.0"}
    pins = read_lock(IMAGE).pins
    return [pin for pin in pins if pin.marker is None or pin.marker.evaluate(where)]


def license_of(name: str) -> str:
    """Return the licence that an installed package declares; empty if none, or not installed."""
    if name in READ:
        return READ[name]
    try:
        told = metadata(name)
    except PackageNotFoundError:
        return ""
    classified = [one.rpartition(" :: ")[2] for one in told.get_all("Classifier") or ()
                  if one.startswith("License :: ")]  # fmt: skip
    written, expression = (
        next(iter(told.get_all(field) or ()), "") for field in ("License", "License-Expression")
    )
    short = written if len(written.splitlines()) == 1 else ""
    return expression or short or " AND ".join(classified)


def make_bom(pins: Iterable[Pin]) -> Bom:
    """Return the document: ourselves, each package with its hashes and licence, and who asks."""
    held = {pin.name: (pin, _component(pin)) for pin in pins}
    root = Component(name=OURS, version=__version__, type=ComponentType.APPLICATION, bom_ref=OURS,
                     licenses=[LicenseFactory().make_from_string("Apache-2.0")])  # fmt: skip
    digest = sha256(IMAGE.read_bytes()).digest()
    bom = Bom(
        components=[one for _, one in held.values()],
        serial_number=UUID(bytes=digest[:16], version=4),
    )
    bom.metadata.component = root
    bom.metadata.timestamp = datetime.fromtimestamp(0, UTC)
    asked: dict[str, list[Component]] = {}
    for pin, component in held.values():
        for asker in pin.via:
            asked.setdefault(asker, []).append(component)
    bom.register_dependency(root, asked.get(OURS, ()))
    for name, (_, component) in held.items():
        bom.register_dependency(component, asked.get(name, ()))
    return bom


def _component(pin: Pin) -> Component:
    url = PackageURL("pypi", name=pin.name, version=pin.version)
    licence = license_of(pin.name)
    hashes = [HashType(alg=HashAlgorithm.SHA_256, content=one) for one in pin.hashes]
    files = ExternalReference(
        type=ExternalReferenceType.DISTRIBUTION,
        url=XsUri(url.to_string()),
        comment="one hash for each of its files",
        hashes=hashes,
    )
    return Component(
        name=pin.name,
        version=pin.version,
        type=ComponentType.LIBRARY,
        bom_ref=url.to_string(),
        purl=url,
        licenses=[LicenseFactory().make_from_string(licence)] if licence else (),
        external_references=[files],
    )


def write(bom: Bom) -> str:
    return JsonV1Dot6(bom).output_as_string(indent=2)


def main(out: Path = OUT) -> None:
    """Write the document into a file."""
    pins = image_pins()
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(write(make_bom(pins)) + "\n", "utf-8")
    print(f"{out} lists {len(pins)} packages.")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
