"""What every Store must do for labelling: give sheets out fairly, keep each answer once."""

import asyncio
from collections import Counter
from math import ceil

import pytest

from adapters.database.database import SqlDatabase
from engine.labelling.sheet import Sheet, SheetAnswer
from engine.labelling.tasks import Labelling
from engine.store import Store, labels as labelling_table
from engine.store.labels import Annotator, Terms
from engine.values.debate import Status
from engine.values.errors import NotFoundError, UsageError
from engine.values.verdicts import Question
from tests.doubles.databases import traces
from tests.kit import (
    NOW,
    FixedClock,
    ballot,
    cast,
    create,
    new_debate,
    records_of,
    run,
    some,
    stances_in,
    turn,
    turn_post,
    verdict,
    votes_in,
)

COMMENT = "Rowan never met the argument about mornings."
FIRST = SheetAnswer(option="first", confidence="clear", ground="logic", comment=COMMENT)
LINK_HOURS = 31 * 24 * 3600


@pytest.fixture
def labelling(store: Store) -> Labelling:
    return Labelling(store, FixedClock(NOW))


async def held(store: Store, *, user: str = "starter", voter: str = "", **request: str) -> str:
    """Hold a debate to its reveal, and return its id."""
    r = await run(store, new_debate(user=user, request=request))
    for number, side in enumerate(("A", "B"), start=1):
        said = f"As claude-x, I say that side {side} has the better point {number}."
        one = turn(number, said, step=f"turn/opening/{side}", side=side, seat=side, round="opening")
        await store.journal.record_turn(r.lease, r.id, one, turn_post(number))
    await store.journal.record_verdict(r.lease, r.id, verdict(), {"jury/oak/AB": ballot()})
    await r.open_vote()
    if voter:
        assert await store.votes.cast(cast(voter)) == "stored"
    await store.votes.close(r.lease, r.id, NOW, False)
    assert (await r.get()).status is Status.CLOSED
    await store.leases.release(r.lease)
    return r.id


async def debates(store: Store, n: int) -> list[str]:
    return [await held(store) for _ in range(n)]


async def someone(labelling: Labelling, name: str = "tea", claim: str = "") -> Annotator:
    (token,) = await labelling.invite(name)
    joined = await labelling.join(token, claim or token)
    return some(joined[1])


async def given(labelling: Labelling, of: Annotator) -> Sheet:
    return some(await labelling.next(of.key))


async def labels(store: Store) -> Counter[str]:
    found = (await records_of(store)).values()
    return Counter(r.debate.id for r in found for _ in r.asked(Question.LABEL))


async def test_a_task_is_of_debates_that_can_be_labelled(labelling: Labelling) -> None:
    await create(labelling.store, new_debate())
    with pytest.raises(UsageError, match="no debate to label"):
        await labelling.create(Terms(name="tea"))
    known, other = await debates(labelling.store, 2)
    with pytest.raises(UsageError, match="no answer for debate"):
        await labelling.create(Terms(name="tea"), known={known: "C"})
    task = await labelling.create(Terms(name="tea"), known={known: "A"})
    assert (task.debates, await labelling.tasks()) == (1, (task,))
    assert {(one.debate, one.known) for one in await labelling.store.labelling.queue("tea")} == {
        (known, "A"),
        (other, None),
    }
    with pytest.raises(UsageError, match="already"):
        await labelling.create(Terms(name="tea"))
    with pytest.raises(NotFoundError):
        await labelling.invite("coffee")
    with pytest.raises(NotFoundError):
        await labelling.close("coffee")


async def test_links_are_for_so_many_people_and_a_repeated_request_is_one(
    labelling: Labelling, database_url: str
) -> None:
    await debates(labelling.store, 1)
    await labelling.create(Terms(name="tea", parameter="PID"))
    (personal,) = await labelling.invite("tea")
    (shared,) = await labelling.invite("tea", people=2)
    assert traces(database_url, personal) == []
    assert traces(database_url, shared) == []
    assert [(await labelling.invitation(token))[0] for token in (personal, "guessed")] == [
        "open",
        "unknown",
    ]
    # Sent twice at once, and once more: one person, by one use of the link.
    twice = await asyncio.gather(*(labelling.join(personal, "browser") for _ in range(5)))
    people = {person for _, person in twice}
    assert Counter(outcome for outcome, _ in twice) == {"joined": 1, "again": 4}
    assert len(people) == 1
    assert (await labelling.join(personal, "another"))[0] == "used"
    assert (await labelling.invitation(personal))[0] == "used"
    assert (await labelling.join("guessed", "browser"))[0] == "unknown"
    # A participant is the same person on any device.
    assert (await labelling.join(personal, "x", "p1"))[0] == "unknown"  # not by a personal link
    assert (await labelling.join(shared, "x", "../p1"))[0] == "unknown"
    first = await labelling.join(shared, "one", "p1")
    again = await labelling.join(shared, "two", "p1")
    assert (first[0], again) == ("joined", ("again", first[1]))
    assert first[1] is not None
    assert (first[1].platform, first[1].number) == ("web", "p1")
    # Their own link leads them back, and nobody else.
    assert await labelling.come_back(first[1].token) == first[1]
    assert await labelling.come_back(first[1].key) is None
    assert await labelling.come_back("\x00.é\x00") is None
    assert await labelling.come_back(first[1].token[:-1] + "é") is None
    assert isinstance(labelling.clock, FixedClock)
    labelling.clock.pass_seconds(LINK_HOURS)
    assert (await labelling.join(shared, "three", "p2"))[0] == "expired"
    assert (await labelling.join(shared, "three", "p1"))[0] == "again"
    await labelling.close("tea")
    assert (await labelling.invitation(shared))[0] == "closed"
    assert (await labelling.join(shared, "three", "p2"))[0] == "closed"


async def test_who_signs_in_needs_a_link_or_a_task_that_is_for_them(labelling: Labelling) -> None:
    await debates(labelling.store, 1)
    await labelling.create(Terms(name="tea"))
    await labelling.create(Terms(name="open", sign_in=("chat",)))
    assert (await labelling.sign_in("none", "chat", "ann"))[0] == "unknown"
    assert (await labelling.sign_in("tea", "chat", "ann"))[0] == "unknown"
    assert (await labelling.sign_in("open", "other", "ann"))[0] == "unknown"
    joined = await labelling.sign_in("open", "chat", "ann")
    assert (joined[0], some(joined[1]).number) == ("joined", "ann")
    assert (await labelling.sign_in("open", "chat", "ann"))[0] == "again"
    (link,) = await labelling.invite("tea")
    assert (await labelling.sign_in("tea", "chat", "ann", link))[0] == "joined"
    assert (await labelling.sign_in("tea", "chat", "bob", link))[0] == "used"
    assert (await labelling.sign_in("tea", "chat", "ann"))[0] == "again"
    assert (await labelling.sign_in("open", "chat", "bob", link))[0] == "unknown"  # of another task
    await labelling.store.privacy.forget("chat", "cleo")
    assert (await labelling.sign_in("open", "chat", "cleo"))[0] == "forgotten"


async def test_a_sheet_is_blind_stays_as_it_was_drawn_and_names_no_side(
    labelling: Labelling,
) -> None:
    (debate,) = await debates(labelling.store, 1)
    await labelling.create(Terms(name="tea"))
    ann = await someone(labelling)
    sheets = await asyncio.gather(*(labelling.next(ann.key) for _ in range(4)))
    sheet = await given(labelling, ann)
    assert sheets == [sheet] * 4
    assert sheet == await labelling.sheet(ann.key, sheet.id)
    shown = sheet.model_dump_json()
    for sealed in ("maple", "birch", "claude-x", debate, debate[-6:].lower(), "turn/", "side A"):
        assert sealed not in shown
    assert set(sheet.names) == {"Alder", "Rowan"}
    speeches = sheet.rounds[0].speeches
    assert [one.number for one in speeches] == [1, 2]
    assert [one.speaker for one in speeches] == ["first", "second"]
    assert [one.name for one in speeches] == list(sheet.names)
    # Another person's sheet is nobody else's.
    bob = await someone(labelling)
    assert await labelling.sheet(bob.key, sheet.id) is None
    assert await labelling.save(bob.key, sheet.id, FIRST) == "unknown"
    assert await labelling.save(ann.key, "guessed", FIRST) == "unknown"
    assert await labelling.next("guessed") is None


async def test_an_answer_is_a_vote_of_the_web_beside_those_of_the_chat(
    labelling: Labelling, store: Store
) -> None:
    (debate,) = await debates(store, 1)
    before = (await records_of(store))[debate]
    await labelling.create(Terms(name="tea"))
    ann = await someone(labelling)
    sheet = await given(labelling, ann)
    first = "A" if sheet.names[0] == "Alder" else "B"
    second = "AB".replace(first, "")
    assert isinstance(labelling.clock, FixedClock)
    labelling.clock.pass_seconds(40)
    answer = FIRST.model_copy(update={"thumbs": {2: True, 9: False}, "seconds": 30.0})
    sent = await asyncio.gather(*(labelling.save(ann.key, sheet.id, answer) for _ in range(5)))
    assert Counter(sent) == {"stored": 1, "same": 4}
    record = (await records_of(store))[debate]
    (label,) = record.asked(Question.LABEL)
    assert (label.option, label.gold, label.reason, label.task) == (first, True, "", "tea")
    assert (label.order, label.seconds, label.fast) == (first + second, 30.0, False)
    assert (label.confidence, label.ground, label.comment) == ("clear", "logic", COMMENT)
    (thumb,) = record.asked(Question.LABEL_TURN)
    assert (thumb.option, thumb.step) == ("up", f"turn/opening/{second}")
    # Nothing of the chat's vote is another than before.
    assert (votes_in(record), record.labels, stances_in(record)) == (votes_in(before), (), ())
    assert record.debate == before.debate
    assert await store.learning.past(9, rehearsal=True) == await store.learning.past(
        9, rehearsal=True
    )
    shown = some(await labelling.sheet(ann.key, sheet.id))
    assert shown.answer == answer.model_copy(update={"thumbs": {2: True}})
    # Changed while the task is open: it replaces the first, and says so.
    labelling.clock.pass_seconds(1)
    weak = SheetAnswer(option="weak", seconds=0.001)
    assert await labelling.save(ann.key, sheet.id, weak) == "changed"
    record = (await records_of(store))[debate]
    (label,) = record.asked(Question.LABEL)
    assert (label.option, label.changes, label.comment, label.fast) == ("weak", 1, "", True)
    assert label.first_at != label.last_at
    assert record.asked(Question.LABEL_TURN) == ()
    await labelling.close("tea")
    labelling.clock.pass_seconds(3601)
    assert await labelling.save(ann.key, sheet.id, FIRST) == "closed"
    assert await labelling.save(ann.key, sheet.id, weak) == "same"
    assert (await records_of(store))[debate].asked(Question.LABEL) == (label,)
    assert await labelling.next(ann.key) is None


async def test_an_answer_on_its_way_at_the_close_of_a_task_is_taken_for_an_hour(
    labelling: Labelling, store: Store
) -> None:
    (debate,) = await debates(store, 1)
    await labelling.create(Terms(name="tea", repeats=0))
    assert isinstance(labelling.clock, FixedClock)
    ann, other = await someone(labelling), await someone(labelling)
    sheet = await given(labelling, ann)
    await labelling.close("tea")
    labelling.clock.pass_seconds(3599)
    assert await labelling.next(ann.key) == sheet
    assert await labelling.next(other.key) is None
    written = FIRST.model_copy(update={"comment": "It took me an hour."})
    assert await labelling.save(ann.key, sheet.id, written) == "stored"
    (label,) = (await records_of(store))[debate].asked(Question.LABEL)
    assert label.comment == "It took me an hour."
    assert await labelling.next(ann.key) is None


async def test_debates_with_the_fewest_labels_come_first_and_never_twice(
    labelling: Labelling, store: Store
) -> None:
    ids = await debates(store, 4)
    task = await labelling.create(Terms(name="tea", per_debate=2, repeats=0, code="DONE-7"))
    people = [await someone(labelling) for _ in range(3)]
    first_round = [await store.labelling.draw(one.key, lambda *_: "plain", NOW) for one in people]
    assert len({one.debate for one in first_round if one}) == 3
    for person in people:
        progress = some(await labelling.progress(person.key))
        assert (progress.answered, progress.done, progress.code) == (0, False, "")
        assert progress.task == task
    while any([await answer_next(labelling, person) for person in people]):
        pass
    assert await labels(store) == dict.fromkeys(ids, 2)
    done = some(await labelling.progress(people[0].key))
    assert (done.done, done.code, done.answered > 0) == (True, "DONE-7", True)
    assert len(await labelling.answered(people[0].key)) == done.answered
    # People who join after everything is labelled are told so, and get no completion code.
    late = some(await labelling.progress((await someone(labelling)).key))
    assert (late.done, late.code) == (False, "")


async def answer_next(labelling: Labelling, person: Annotator, option: str = "first") -> bool:
    sheet = await labelling.next(person.key)
    if sheet is None:
        return False
    answer = SheetAnswer.model_validate({"option": option})
    assert await labelling.save(person.key, sheet.id, answer) == "stored"
    return True


async def test_a_debate_does_not_wait_long_for_one_who_left(
    labelling: Labelling, store: Store
) -> None:
    (debate,) = await debates(store, 1)
    await labelling.create(Terms(name="tea", per_debate=1))
    ann, bob = await someone(labelling), await someone(labelling)
    sheet = await given(labelling, ann)
    assert await labelling.next(bob.key) is None
    assert isinstance(labelling.clock, FixedClock)
    labelling.clock.pass_seconds(3 * 3600 + 1)
    assert await answer_next(labelling, bob)
    # What comes late is kept all the same.
    assert await labelling.save(ann.key, sheet.id, FIRST) == "stored"
    assert await labels(store) == {debate: 2}
    assert await labelling.next((await someone(labelling)).key) is None


async def test_nobody_is_done_while_a_debate_waits_for_one_who_left(
    labelling: Labelling, store: Store
) -> None:
    await debates(store, 2)
    await labelling.create(Terms(name="tea", per_debate=1, repeats=0, code="DONE-7"))
    ann, bob = await someone(labelling), await someone(labelling)
    await given(labelling, ann)
    assert await answer_next(labelling, bob)
    before = await labelling.progress(bob.key)
    assert isinstance(labelling.clock, FixedClock)
    labelling.clock.pass_seconds(3 * 3600 + 1)
    since = await labelling.progress(bob.key)
    assert before is not None
    assert since is not None
    assert (before.done, before.code) == (True, "DONE-7")
    assert (since.done, since.code) == (False, "")
    assert await answer_next(labelling, bob)


async def test_tests_and_second_showings_are_no_votes(labelling: Labelling, store: Store) -> None:
    known, *others = await debates(store, 21)
    terms = Terms(name="tea", repeats=0.5, each=30, per_debate=1)
    await labelling.create(terms, known={known: "A"})
    ann = await someone(labelling)
    while await answer_next(labelling, ann):
        pass
    work = await store.labelling.work("tea")
    kinds = Counter(one.kind for one in work)
    assert kinds["known"] == 1
    assert kinds["again"] >= 1
    assert next(one.number for one in work if one.kind == "known") <= 5
    plain = {one.debate: one for one in work if one.kind == "plain"}
    assert await labels(store) == dict.fromkeys(plain, 1)
    assert known not in plain
    assert set(plain) <= set(others)
    for one in work:
        if one.kind == "again":
            assert one.order == plain[one.debate].order[::-1]
            assert one.number - plain[one.debate].number >= 3
    progress = some(await labelling.progress(ann.key))
    assert progress.answered == len(work) <= 30
    assert progress.wanted == 0, "nobody is promised more debates than there are"


async def test_a_topic_comes_twice_in_a_row_and_not_three_times(
    labelling: Labelling, store: Store
) -> None:
    topics = ["Tea"] * 4 + ["Trams"] * 2
    of = {await held(store, topic=topic): topic for topic in topics}
    await labelling.create(Terms(name="tea", per_debate=1, repeats=0))
    ann = await someone(labelling)
    while await answer_next(labelling, ann):
        pass
    work = await store.labelling.work("tea")
    given = [of[one.debate] for one in work]
    assert sorted(given) == topics
    for at in range(len(given) - 2):
        if len({*given[at : at + 3]}) == 1:
            assert {*given[at:]} == {given[at]}, "a third time only when no other topic is left"


async def test_an_excluded_annotator_counts_nowhere_and_others_get_their_debates(
    labelling: Labelling, store: Store
) -> None:
    await debates(store, 2)
    await labelling.create(Terms(name="tea", per_debate=1, repeats=0))
    ann, bob = await someone(labelling), await someone(labelling)
    while await answer_next(labelling, ann):
        pass
    assert await labelling.next(bob.key) is None
    (name,) = [one.name for one in (await labelling.report("tea")).people]
    with pytest.raises(NotFoundError, match="no annotator 00000000"):
        await labelling.exclude("tea", "00000000", excluded=True)
    for _ in range(2):  # the second time changes nothing
        await labelling.exclude("tea", name, excluded=True)
    assert [
        (vote.gold, vote.reason)
        for record in (await records_of(store)).values()
        for vote in record.asked(Question.LABEL)
    ] == [(False, "excluded")] * 2
    report = await labelling.report("tea")
    assert (report.labels, report.complete, report.annotators) == (0, 0, 0)
    assert [(one.labels, one.marks[-1:]) for one in report.people] == [(2, ("excluded",))]
    assert await answer_next(labelling, bob, "second")
    await labelling.exclude("tea", name, excluded=False)
    assert (await labelling.report("tea")).labels == 3
    assert await labelling.next(bob.key) is None


async def test_a_code_is_held_back_from_who_answers_too_fast_where_the_task_says_so(
    labelling: Labelling, store: Store
) -> None:
    await debates(store, 2)
    for name, hold_code in (("tea", True), ("coffee", False)):
        await labelling.create(
            Terms(name=name, repeats=0, each=2, code="DONE-7", hold_code=hold_code)
        )
    ann, bob = await someone(labelling), await someone(labelling, "coffee")
    for person in (ann, bob):
        while await answer_next(labelling, person):
            pass
    hasty, also = some(await labelling.progress(ann.key)), some(await labelling.progress(bob.key))
    assert (hasty.done, hasty.held, hasty.code) == (True, True, "")
    assert (also.done, also.held, also.code) == (True, False, "DONE-7")


async def test_what_is_left_is_told_by_the_words_and_then_by_their_own_time(
    labelling: Labelling, store: Store
) -> None:
    await debates(store, 3)
    task = await labelling.create(Terms(name="tea", repeats=0, each=3))
    ann = await someone(labelling)
    assert some(await labelling.progress(ann.key)).minutes == ceil(3 * task.minutes)
    sheet = await given(labelling, ann)
    assert isinstance(labelling.clock, FixedClock)
    labelling.clock.pass_seconds(240)
    assert await labelling.save(ann.key, sheet.id, FIRST) == "stored"
    progress = some(await labelling.progress(ann.key))
    assert (progress.answered, progress.minutes) == (1, 8)


async def test_nobody_labels_a_debate_that_they_know(labelling: Labelling, store: Store) -> None:
    started = await held(store, user="ann")
    other = await held(store)
    await labelling.create(Terms(name="tea", sign_in=("chat",)))
    ann = (await labelling.sign_in("tea", "chat", "ann"))[1]
    bob = (await labelling.sign_in("tea", "chat", "bob"))[1]
    assert ann is not None
    assert bob is not None
    drawn = some(await store.labelling.draw(ann.key, lambda *_: "plain", NOW))
    assert drawn.debate == other
    # Who saw the reveal is not given the debate; who sees it meanwhile gives no gold label.
    await labelling.saw(bob.key, [started])
    sheet = await given(labelling, bob)
    assert await labelling.save(bob.key, sheet.id, FIRST) == "stored"
    await labelling.saw(bob.key, [other])
    await labelling.saw(ann.key, [other])
    assert await labelling.next(bob.key) is None
    assert await labelling.save(ann.key, drawn.id, FIRST) == "stored"
    stood = {one.gold for one in (await records_of(store))[other].asked(Question.LABEL)}
    assert stood == {True, False}
    assert await labelling.save(bob.key, sheet.id, SheetAnswer(option="tie")) == "changed"
    stood = {one.gold for one in (await records_of(store))[other].asked(Question.LABEL)}
    assert stood == {False}
    assert await labelling.store.labelling.work("none") == ()


async def test_forgotten_people_leave_their_labels_and_no_word(
    labelling: Labelling, store: Store, database_url: str
) -> None:
    (debate,) = await debates(store, 1)
    await labelling.create(Terms(name="tea", parameter="PID"))
    (link,) = await labelling.invite("tea", people=9)
    ann = some((await labelling.join(link, "browser", "ann-4711"))[1])
    sheet = await given(labelling, ann)
    await labelling.save(ann.key, sheet.id, FIRST)
    own = some(await store.privacy.own("web", "ann-4711"))
    assert COMMENT in str(own.tables["sheets"])
    assert COMMENT in str(own.tables["votes"])
    assert (await store.privacy.traces("web", "ann-4711")).labels == 1
    await store.privacy.forget("web", "ann-4711")
    assert await store.privacy.wipe()
    for trace in ("ann-4711", COMMENT):
        assert traces(database_url, trace) == []
    assert await labels(store) == {debate: 1}
    record = (await records_of(store))[debate]
    assert len(record.opted_out) == 1
    assert await labelling.annotator(ann.key) is None
    assert await labelling.come_back(ann.token) is None
    assert await labelling.next(ann.key) is None
    assert await labelling.save(ann.key, sheet.id, FIRST) == "unknown"
    assert (await labelling.join(link, "browser", "ann-4711"))[0] == "forgotten"
    # The debate goes with everything of it, and so does a community with its tasks.
    await store.retention.delete(debate)
    assert await store.labelling.work("tea") == ()


async def test_an_answer_that_was_cut_off_before_its_commit_is_stored_once_when_sent_again(
    labelling: Labelling, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    (debate,) = await debates(store, 1)
    await labelling.create(Terms(name="tea"))
    ann = await someone(labelling)
    sheet = await given(labelling, ann)

    def die(*_: object) -> None:
        raise ConnectionError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(labelling_table, "_keep_votes", die)
        with pytest.raises(ConnectionError):
            await labelling.save(ann.key, sheet.id, FIRST)
    assert await labels(store) == {}
    assert await given(labelling, ann) == sheet
    assert [await labelling.save(ann.key, sheet.id, FIRST) for _ in range(2)] == ["stored", "same"]
    assert await labels(store) == {debate: 1}


async def test_many_at_once_whose_processes_share_a_database_label_each_debate_often_enough(
    labelling: Labelling, store: Store, database_url: str, database_kind: str
) -> None:
    """Each annotator's requests are sent twice, from two processes where there can be two."""
    ids = await debates(store, 6)
    await labelling.create(Terms(name="tea", per_debate=20, repeats=0))
    (link,) = await labelling.invite("tea", people=200)
    other = SqlDatabase(database_url) if database_kind == "postgresql" else None
    desks = [labelling, Labelling(Store(other), labelling.clock) if other else labelling]

    async def label(n: int) -> None:
        joined = await asyncio.gather(*(one.join(link, f"browser {n}") for one in desks))
        (person,) = {person for _, person in joined}
        assert person is not None
        while True:
            sheet, same = await asyncio.gather(*(one.next(person.key) for one in desks))
            assert sheet == same
            if sheet is None:
                return
            saved = [one.save(person.key, sheet.id, FIRST) for one in desks]
            assert sorted(await asyncio.gather(*saved)) == ["same", "stored"]

    await asyncio.gather(*map(label, range(200)))
    if other is not None:
        await other.close()
    assert await labels(store) == dict.fromkeys(ids, 20)
    link_state = await labelling.invitation(link)
    assert link_state[0] == "used"
