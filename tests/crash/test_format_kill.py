"""kill -9 in every format, chained: what was said, found and judged stays the same, once."""

from collections import Counter
from typing import NamedTuple

import pytest

from engine.values.debate import Status
from tests.crash.conftest import NewScene, Scene, kill_at, one_of_each_kind

pytestmark = pytest.mark.slow

# Raise or lower it knowingly: each is a write or a message that has just been stored.
OURS = ("journal.", "send ", "votes.close", "guests.")
POINTS = {
    "questions": 65,
    "person": 60,
    "roundtable": 38,
    "structured": 48,
    "audited": 56,
    "team": 187,
    "oxford": 46,
}
WRITE_MORE = ("questions", "person", "team")  # than a classic debate


class Held(NamedTuple):
    """A debate without any trouble, and the same one killed at every point."""

    clean: Scene
    every: list[str]
    points: list[str]
    killed: list[Scene]


@pytest.fixture(
    scope="module",
    params=[
        *(pytest.param((name, "each-kind"), id=f"{name}-each-kind") for name in WRITE_MORE),
        *(pytest.param((name, "every-point"), id=name) for name in POINTS),
    ],
)
def held(request: pytest.FixtureRequest, new_scene: NewScene, database_kind: str) -> Held:
    name, where = request.param
    clean = new_scene(name)
    clean.run()
    # Dying before a write leaves what dying after the one before it does, and what deliveries
    # and leases note down is the same in every format.
    every = [p for p in clean.met if p.startswith(OURS) and not p.endswith(", before")]
    # Each death takes half a second more on a server: of a long debate some tell enough.
    gap = 8 if database_kind == "postgresql" and len(every) > 100 else 1
    if name == "person":  # between the turns it is a debate like any other
        gap = 6 if database_kind == "postgresql" else 3
    points = every[::gap] if where == "every-point" else one_of_each_kind(every)
    return Held(clean, every, points, kill_at(points, new_scene, name))


def test_a_process_died_at_every_write_and_send(held: Held) -> None:
    died = sorted(point for scene in held.killed for point in scene.met)
    assert died == sorted(set(held.points))
    assert len(held.every) == POINTS[held.clean.format]
    kinds = Counter(point.split()[0] for point in held.every)
    record = held.clean.record()
    assert kinds["journal.began"] == kinds["journal.ended"] == len(record.calls)
    assert kinds["journal.record_turn"] == len(record.turns)
    assert kinds["send"] == len([act for act in held.clean.platform if act[0] == "post"])
    assert bool(kinds["journal.note"]) == bool(record.artifacts)


def test_people_read_the_same_and_nothing_twice(held: Held) -> None:
    for scene in held.killed:
        assert scene.transcript() == held.clean.transcript()
        posted = Counter(act[2]["reference"] for act in scene.platform if act[0] == "post")
        assert max(posted.values()) == 1


def test_what_is_kept_back_comes_once_and_behind_the_reveal(held: Held) -> None:
    kept_back = [post for post in held.clean.tables()["outbox"] if post["kind"] == "report"]
    for scene in held.killed:
        outbox = sorted(scene.tables()["outbox"], key=lambda post: int(post["number"]))
        keys = [post["key"] for post in outbox]
        assert {post["state"] for post in outbox} == {"sent"}
        reveal = keys.index("reveal")
        assert [key for key in keys[:reveal] if key in {post["key"] for post in kept_back}] == []
        assert len(keys) == len(set(keys))


def test_what_was_found_and_judged_is_the_same(held: Held) -> None:
    expected = held.clean.record()
    assert expected.verdict is not None
    for scene in held.killed:
        record = scene.record()
        assert record.debate.status is Status.CLOSED
        assert record.turns == expected.turns
        assert record.artifacts == expected.artifacts
        assert record.scores == expected.scores
        assert record.adjustments == expected.adjustments
        assert record.verdicts == expected.verdicts
        assert record.verdict == expected.verdict


def test_no_stored_result_is_asked_for_again(held: Held) -> None:
    for scene in held.killed:
        assert not scene.asked_again()
