"""Which communities a process serves, where several processes share a platform.

Every community has a lane, a number that never changes; lane modulo the number of shares is its
share. For numeric ids it is Discord's own rule, so that a server's messages are delivered by the
process that hears its events.
"""

from __future__ import annotations

from typing import NamedTuple
from zlib import crc32

TIME_BITS = 22  # of a Discord id: what stands above them is the time
LANES = 2**42
OWN = "person-"  # begins the community of a person's own, in direct messages


def lane_of(community: str) -> int:
    """Return the lane of a community: of an id of digits its time, of any other text a hash.

    That of direct messages is the first, as platforms tell of them there.
    """
    if community.startswith(OWN):
        return 0
    if community.isascii() and community.isdigit():
        return (int(community) >> TIME_BITS) % LANES
    return crc32(community.encode())


class Served(NamedTuple):
    """The shares of a platform that a process holds, out of how many."""

    total: int
    held: frozenset[int]

    def has(self, community: str) -> bool:
        """Return whether a community is served here."""
        return lane_of(community) % self.total in self.held


EVERYONE = Served(1, frozenset({0}))
"""What a process serves that shares a platform with no other."""


def everyone() -> Served:
    """Return what a process serves that shares a platform with no other."""
    return EVERYONE
