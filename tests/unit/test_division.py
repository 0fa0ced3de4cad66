"""A platform's shares are divided fairly, and few of them change hands."""

import random
from collections import Counter

import pytest

from engine.fleet.limits import _Moves, moves
from engine.store.leases import Partition, partition_key_of


def settle(count: int, members: set[str], holders: dict[int, str], most: int | None = None) -> int:
    """Let every process do what it should, one after another, until all rest; return the moves."""
    made = 0
    for _ in range(count + len(members) + 2):
        for member in sorted(members):
            planned = moves(count, members, holders, member, most)
            for share in planned.release:
                assert holders.pop(share) == member
            for share in planned.claim:
                assert share not in holders
                holders[share] = member
            made += len(planned.release)
        if all(moves(count, members, holders, one, most) == _Moves() for one in members):
            return made
    raise AssertionError("they never rest")


@pytest.mark.parametrize("count", [1, 2, 3, 8, 16, 33])
def test_processes_that_come_and_go_always_end_with_a_fair_division(count: int) -> None:
    draw = random.Random(count)
    members, holders = {"m0"}, dict[int, str]()
    settle(count, members, holders)
    for number in range(1, 30):
        if len(members) > 1 and draw.random() < 0.4:
            gone = draw.choice(sorted(members))
            members.discard(gone)
            holders = {share: by for share, by in holders.items() if by != gone}
        else:
            members.add(f"m{number}")
        settle(count, members, holders)
        had = Counter(holders.values())
        assert sorted(holders) == list(range(count))
        assert max(had[one] for one in members) - min(had[one] for one in members) <= 1


def test_one_that_joins_moves_no_more_shares_than_it_gets_and_none_takes_more_than_most() -> None:
    holders = {share: "ab"[share % 2] for share in range(8)}
    assert settle(8, {"a", "b", "c"}, holders) == 2
    assert Counter(holders.values()) == {"a": 3, "b": 3, "c": 2}
    # A single share stays where it is, and the others stand by.
    for me in "az":
        assert moves(1, {"a", "z"}, {0: "z"}, me) == _Moves()
    assert moves(1, {"a"}, {}, "a") == _Moves(claim=(0,))
    # Two that begin together do not claim the same.
    assert [moves(4, {"a", "b"}, {}, me).claim for me in "ab"] == [(0, 1), (2, 3)]
    # A share of a process that is not alive is not free while its lease runs.
    assert moves(2, {"a"}, {0: "ghost"}, "a") == _Moves(claim=(1,))
    holders = {}
    settle(10, {"a", "b"}, holders, most=1)
    assert sorted(holders.values()) == ["a", "b"]


def test_a_server_of_discord_belongs_to_the_shard_that_hears_it_and_workspaces_spread() -> None:
    guild = 197038439483310086
    for shards in (1, 2, 16, 2500):
        assert partition_key_of(str(guild)) % shards == (guild >> 22) % shards
    had = Counter(partition_key_of(f"T{number:08d}") % 16 for number in range(1600))
    assert len(had) == 16
    assert max(had.values()) < 200
    assert Partition(1, frozenset({0})).has("T1")
    assert not Partition(1, frozenset()).has("T1")
