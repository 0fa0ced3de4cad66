"""kill -9 at every point of a debate, chained: nothing twice, nothing lost."""

from collections import Counter
from itertools import takewhile

import pytest

from engine.values.debate import Fit, Setup, Status
from engine.values.verdicts import Ballot
from tests.crash.conftest import NewScene, Scene, kill_at, one_of_each_kind
from tests.crash.driver import PEOPLE
from tests.crash.inputs import CHANGED, ORDER, PAST_DEBATES
from tests.kit import votes_in

# Raise or lower it knowingly: each is a write, a send or a vote of one debate.
POINTS = 216


@pytest.fixture(
    scope="module", params=["each-kind", pytest.param("every-point", marks=pytest.mark.slow)]
)
def points(request: pytest.FixtureRequest, clean: Scene) -> list[str]:
    """Where processes die: points of the clean debate."""
    return clean.met if request.param == "every-point" else one_of_each_kind(clean.met)


@pytest.fixture(scope="module")
def killed(points: list[str], new_scene: NewScene) -> list[Scene]:
    return kill_at(points, new_scene)


def test_every_write_send_and_vote_is_a_point(clean: Scene) -> None:
    kinds = Counter(point.split()[0] for point in clean.met)
    assert len(clean.met) == len(set(clean.met)) == POINTS
    assert kinds["send"] == 2 * len([act for act in clean.platform if act[0] == "post"])
    assert kinds["react"] + kinds["unreact"] == len(PEOPLE)
    assert kinds["votes.cast"] == 2 * len(PEOPLE)
    assert kinds["journal.began"] == kinds["journal.ended"] == 2 * len(clean.record().calls)


def test_a_process_died_at_every_point_and_many_in_one_debate(
    points: list[str], killed: list[Scene]
) -> None:
    died = [point for scene in killed for point in scene.met]
    assert sorted(died) == sorted(points)
    assert len(killed[0].met) > len(points) / 3


def test_people_read_the_same_and_nothing_twice_whenever_it_died(
    clean: Scene, killed: list[Scene]
) -> None:
    for scene in killed:
        transcript = scene.transcript()
        assert transcript == clean.transcript()
        posted = Counter(act[2]["reference"] for act in scene.platform if act[0] == "post")
        assert max(posted.values()) == 1
        # It is asked again below the reveal.
        tables = scene.tables()
        [_] = [row for row in tables["targets"] if row["question"] == "again"]
        [asked] = [row for row in tables["questions"] if row["question"] == "again"]
        assert asked["closes_at"] is not None
        assert transcript[-1][1].startswith("After the reveal: A, B, tie, weak.")


def test_no_stored_result_is_asked_for_again_and_it_is_the_last_try(killed: list[Scene]) -> None:
    for scene in killed:
        assert not scene.asked_again()
        tries: dict[str, list[bool]] = {}
        for call in sorted(scene.record().calls, key=lambda call: call.attempt):
            tries.setdefault(call.step, []).append(call.reply is not None)
        for results in tries.values():
            failed = len(list(takewhile(lambda done: not done, results)))
            assert results == [False] * failed + [True]


def test_prompts_and_what_a_call_may_cost_are_as_they_were_when_the_debate_began(
    clean: Scene, killed: list[Scene]
) -> None:
    calls = {call.step: (call.prompt_hash, call.cost_max) for call in clean.record().calls}
    for scene in killed:
        found = scene.record().calls
        assert {call.step: (call.prompt_hash, call.cost_max) for call in found} == calls


def test_a_debate_begun_after_the_crash_would_be_another(clean: Scene, killed: list[Scene]) -> None:
    begun = clean.record().debate.setup
    for scene in killed:
        assert scene.record().debate.setup == begun
        fresh = scene.begin(ORDER, CHANGED).setup
        assert len(scene.tables()["debates"]) == 1 + PAST_DEBATES
        changed = {name for name in type(begun).model_fields if differ(begun, fresh, name)}
        assert changed >= {"request", "templates", "panel", "sampling", "limits", "prices"}
        known = [juror.ref for juror in fresh.panel.roster if juror in begun.panel.roster]
        assert begun.panel.fit == Fit()
        assert begun.panel.stake is not None
        assert fresh.panel.ready_fit  # by which it is seated, stopped and decided
        assert not begun.panel.history
        assert fresh.panel.slope != begun.panel.slope
        assert len({round(item.weight, 3) for item in fresh.panel.history.values()}) == len(known)


def differ(one: Setup, other: Setup, name: str) -> bool:
    return bool(getattr(one, name) != getattr(other, name))


def shown_votes(scene: Scene) -> dict[str, str]:
    held: dict[str, set[str]] = {}
    for name, user, *_, option in scene.platform:
        if name == "react":
            held.setdefault(user, set()).add(option)
        elif name == "unreact":
            held[user].remove(option)
    return {user: options.pop() for user, options in held.items() if options}


def test_turns_verdict_and_votes_are_the_same_and_no_vote_is_lost(
    clean: Scene, killed: list[Scene]
) -> None:
    for scene in killed:
        assert_same(scene, clean)
        held = {user: option for user, (option, _) in choices(scene).items()}
        assert held == shown_votes(scene)


def assert_same(scene: Scene, clean: Scene) -> None:
    """Check that a debate has ended with what was said, judged and voted in the clean one."""
    record, expected = scene.record(), clean.record()
    assert record.debate.status is Status.CLOSED
    assert record.turns == expected.turns
    assert record.verdict == expected.verdict
    assert list(map(essence, record.ballots)) == list(map(essence, expected.ballots))
    assert choices(scene) == choices(clean)


def essence(ballot: Ballot) -> Ballot:
    return ballot.model_copy(update={"latency": None})


def choices(scene: Scene) -> dict[str, tuple[str, bool]]:
    users = scene.users()
    return {users[vote.person]: (vote.option, vote.gold) for vote in votes_in(scene.record())}
