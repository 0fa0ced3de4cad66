"""Pseudonyms of voters: the same within one export, different in the next."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

import orjson

from engine.store import ExportFilter


class Keys(NamedTuple):
    """The keys of an export; neither is ever written into it.

    `splits` is the installation's salt for splits, `master` the key of pseudonyms.
    """

    splits: bytes
    master: bytes


REMEMBERED = 50_000  # cached pseudonyms, for people who vote often


class Pseudonyms:
    """The pseudonyms of one export, which depend on its filters, tables and cut-off.

    They come from a keyed hash: plain hashes of user ids could be reversed by trying all ids.
    """

    def __init__(
        self,
        master: bytes,
        where: ExportFilter,
        cutoff: datetime | None,
        tables: Iterable[str] = (),
        labels: str = "chat",
        *,
        flawed: bool = False,
    ) -> None:
        scope = {
            "platform": where.platform,
            "community": where.community,
            "revealed": where.revealed,
            "formats": sorted(where.formats),
            "languages": sorted(where.languages),
            "since": where.since and where.since.isoformat(),
            "until": where.until and where.until.isoformat(),
            "quorum_met": where.quorum_met,
            "without_rehearsal": where.without_rehearsal,
            "cutoff": cutoff and cutoff.isoformat(),
            "tables": sorted(tables),
            # Not in the scope of those that are as ever, so that they repeat.
            **({} if labels == "chat" else {"labels": labels}),
            **({"flawed": True} if flawed else {}),
        }
        self._key = hmac.digest(master, orjson.dumps(scope), "sha256")
        self._voters: dict[int, str] = {}

    def voter(self, person: int) -> str:
        """Return a person's pseudonym: 128 bits in hexadecimal."""
        known = self._voters.get(person)
        if known is None:
            if len(self._voters) >= REMEMBERED:
                self._voters.clear()
            known = self._voters[person] = self._name(f"person/{person}")
        return known

    def community(self, community: str) -> str:
        """Return the pseudonym of a community, by its platform id."""
        return self._name(f"community/{community}")

    def _name(self, subject: str) -> str:
        return hmac.digest(self._key, subject.encode(), "sha256")[:16].hex()
