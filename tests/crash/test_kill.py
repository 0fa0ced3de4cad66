"""kill -9 at every point of a debate, chained: nothing twice, nothing lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import takewhile

import pytest

from engine.debate import Ballot, Status
from tests.crash.conftest import Scene
from tests.crash.driver import PEOPLE

# Raise or lower it knowingly: each is a write, a send or a vote of one debate.
POINTS = 212


@pytest.fixture(scope="module")
def killed(clean: Scene, new_scene: Callable[[], Scene]) -> Scene:
    """The same debate, whose process was killed once at each point of the clean one."""
    scene = new_scene()
    scene.doom(clean.met)
    scene.run("chain")
    return scene


def test_every_write_send_and_vote_is_a_point(clean: Scene) -> None:
    kinds = Counter(point.split()[0] for point in clean.met)
    assert len(clean.met) == len(set(clean.met)) == POINTS
    assert kinds["send"] == 2 * len([act for act in clean.platform if act[0] == "post"])
    assert kinds["react"] + kinds["unreact"] == len(PEOPLE)
    assert kinds["votes.cast"] == 2 * len(PEOPLE)
    assert kinds["journal.began"] == kinds["journal.ended"] == 2 * len(clean.record().calls)


def test_a_process_died_at_every_point(clean: Scene, killed: Scene) -> None:
    assert sorted(killed.met) == sorted(clean.met)


def test_people_read_the_same(clean: Scene, killed: Scene) -> None:
    assert killed.transcript() == clean.transcript()


def test_nothing_is_posted_twice(killed: Scene) -> None:
    posted = Counter(act[2]["reference"] for act in killed.platform if act[0] == "post")
    assert max(posted.values()) == 1


def test_no_stored_result_is_asked_for_again(clean: Scene, killed: Scene) -> None:
    stored: set[str] = set()
    for line in killed.trail:
        what, _, step = line.partition(" ")
        if what == "journal.ended":
            stored.add(step.removeprefix("debate "))
        assert not (what == "asked" and step in stored), f"{step} was asked for again"
    assert {call.step for call in clean.record().calls} == stored


def test_the_journal_has_one_result_a_step_and_it_is_the_last_try(killed: Scene) -> None:
    tries: dict[str, list[bool]] = {}
    for call in sorted(killed.record().calls, key=lambda call: call.attempt):
        tries.setdefault(call.step, []).append(call.reply is not None)
    for results in tries.values():
        failed = len(list(takewhile(lambda done: not done, results)))
        assert results == [False] * failed + [True]


def test_every_prompt_is_as_it_was_when_the_debate_began(clean: Scene, killed: Scene) -> None:
    prompts = {call.step: call.prompt_hash for call in clean.record().calls}
    assert all(call.prompt_hash == prompts[call.step] for call in killed.record().calls)


def test_no_vote_is_lost(killed: Scene) -> None:
    held: dict[str, set[str]] = {}
    for name, user, *_, option in [act for act in killed.platform if act[0] in VOTING]:
        mine = held.setdefault(user, set())
        (mine.add if name == "react" else mine.discard)(option)
    users = killed.users()
    stored = {users[vote.person]: vote.option for vote in killed.record().votes}
    assert stored == {user: options.pop() for user, options in held.items() if options}


VOTING = ("react", "unreact")


def test_turns_verdict_and_votes_are_the_same(clean: Scene, killed: Scene) -> None:
    assert killed.record().debate.status is Status.CLOSED
    assert killed.record().turns == clean.record().turns
    assert killed.record().verdict == clean.record().verdict
    assert [essence(b) for b in killed.record().ballots] == [
        essence(b) for b in clean.record().ballots
    ]
    assert choices(killed) == choices(clean)


def essence(ballot: Ballot) -> Ballot:
    """Return a ballot without how long it took."""
    return ballot.model_copy(update={"latency": None})


def choices(scene: Scene) -> dict[str, tuple[str, bool]]:
    users = scene.users()
    return {users[vote.person]: (vote.option, vote.gold) for vote in scene.record().votes}
