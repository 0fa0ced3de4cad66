"""Who voted, as an export may say it: the same within one export, different in the next."""

from __future__ import annotations

import hmac
from datetime import datetime
from typing import NamedTuple

import orjson

from engine.store import ExportFilter


class Keys(NamedTuple):
    """What an export is keyed with; neither is ever written into it.

    `splits` is the installation's salt of the splits, `master` the key behind pseudonyms.
    """

    splits: bytes
    master: bytes


class Pseudonyms:
    """The pseudonyms of one export: of these filters, up to this moment.

    They come from a keyed hash: platforms' ids are so few that plain hashes of them can be
    looked up by trying all.
    """

    def __init__(self, master: bytes, where: ExportFilter, cutoff: datetime | None) -> None:
        scope = {
            "community": where.community,
            "formats": sorted(where.formats),
            "languages": sorted(where.languages),
            "cutoff": cutoff and cutoff.isoformat(),
        }
        self._key = hmac.digest(master, orjson.dumps(scope), "sha256")

    def voter(self, person: int) -> str:
        """Return what stands for a person: 128 bits in hexadecimal."""
        return self._name(f"person/{person}")

    def community(self, community: str) -> str:
        """Return what stands for a community, whose id is the platform's own."""
        return self._name(f"community/{community}")

    def _name(self, subject: str) -> str:
        return hmac.digest(self._key, subject.encode(), "sha256")[:16].hex()
