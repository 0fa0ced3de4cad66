"""`roundtable`: drafts at the same time, revisions that read the others, and who wins."""

import re
from collections.abc import Mapping

import orjson
import pytest

from adapters.discord import render as discord
from adapters.discord.render import DiscordPayload
from adapters.slack import render as slack
from adapters.slack.render import SlackPayload
from engine.formats import find_format
from engine.formats.roundtable import NAME_CHARS
from engine.jury.rubric import find_rubric
from engine.tally.questions import vote_options
from engine.values.debate import BallotKind, Model, Scores, Setup, TurnOrder
from engine.values.errors import ModelError, UsageError
from engine.values.messages import Notice, Report, TurnPost, VoteInvite
from tests.doubles.rehearsed import RehearsedHost, hold, setup_for
from tests.kit import turn


def draft_of(step: str) -> str | None:
    """Say something of each agent's own in every round."""
    kind, round_name, agent = step.split("/")[:3] if step.count("/") >= 2 else ("", "", "")
    if kind != "turn":
        return None
    return f"Draft {round_name} of agent{agent}. Word{agent} only{agent} here{agent}."


@pytest.mark.parametrize(
    ("options", "rounds", "calls"),
    [({}, None, 9), ({"agents": 2}, 1, 4), ({"agents": 5, "judges": 2}, 3, 22)],
)
async def test_calls_are_agents_times_rounds_and_one_a_judge(
    options: dict[str, int], rounds: int | None, calls: int
) -> None:
    setup = setup_for("roundtable", options=options, rounds=rounds)
    host = await hold(setup, RehearsedHost(twist=draft_of))
    assert host.calls == calls
    script = find_format("roundtable")
    assert len(host.turns) == script.turns(setup.request)
    assert script.waves(setup.request) == len(script.rounds(setup.request))


async def test_drafts_of_a_round_are_written_at_once_and_a_revision_reads_the_others_latest() -> (
    None
):
    host = RehearsedHost(twist=draft_of, latency=lambda step: 0.02 if step.endswith("/1") else 0)
    await hold(setup_for("roundtable"), host)
    assert host.most_talking == 3
    assert [turn.seat for turn in host.turns] == list("123") * 3
    asked = host.asked["turn/revision-2/1"][-1].content
    assert "Draft revision-1 of agent2." in asked
    assert "Draft revision-1 of agent3." in asked
    assert "of agent1" not in asked
    assert "Draft draft of" not in asked
    assert not re.search("agent[23]", host.said_to("turn/draft/1"))
    assert "make it work on Monday" in host.said_to("turn/draft/1")
    assert "which claim is weakest" in host.said_to("turn/draft/2")
    # They read one another by the names that people read.
    asked = host.asked["turn/revision-1/1"][-1].content
    assert "> Sceptic\nIts draft:\n> Draft draft of agent2." in asked
    assert "Agent 2" not in asked
    titles = [post.message.name for post in host.posts if isinstance(post.message, TurnPost)]
    assert titles[:3] == ["Practitioner", "Sceptic", "Historian"]
    names = host.artifacts["result"].body["names"]
    assert names == {"1": "Practitioner", "2": "Sceptic", "3": "Historian"}


async def test_what_was_changed_is_shown_and_is_no_part_of_the_draft() -> None:
    changed = "\n\n---\n\nI changed it all."
    host = RehearsedHost(twist=lambda step: f"Body {step}{changed}" if "revis" in step else None)
    await hold(setup_for("roundtable"), host)
    assert "I changed it all." in host.turns[3].text
    assert "I changed it all." not in host.asked["turn/revision-2/2"][-1].content


def test_one_model_may_play_every_agent_and_nobody_takes_a_side_on_a_question() -> None:
    alike = setup_for("roundtable", options={"one_model": True}).request
    assert len(set(alike.sides.values())) == 1
    assert len(set(setup_for("roundtable").request.sides.values())) == 3
    assert alike.turn_order is TurnOrder.SIMULTANEOUS
    assert not alike.stance
    with pytest.raises(UsageError, match="answers a question, so no one takes a side"):
        setup_for("roundtable", stance=True)


@pytest.mark.parametrize(
    ("language", "text", "told"),
    [
        ("en", "Tea warms the hands.", "6 calls saved"),
        ("tr", "Çay elleri ısıtır.", "6 çağrı tasarruf edildi"),
        ("zh", "茶能让手变得暖和。", "省下 6 次调用"),
    ],
)
async def test_agreement_ends_it_early_and_says_so(language: str, text: str, told: str) -> None:
    host = RehearsedHost(twist=lambda step: text)
    await hold(setup_for("roundtable", language=language), host)
    assert host.calls == 3
    (notice,) = [post.message for post in host.posts if isinstance(post.message, Notice)]
    assert told in notice.text


@pytest.mark.parametrize(
    ("drafts", "overlap", "calls"),
    [
        (["shared words stay1", "shared words stay2", "shared words stay3"], 0.3, 3),
        (["shared words stay1", "shared words stay2", "shared words stay3"], None, 9),
        (["tea warms cold hands", "tea warms cold hands well"], 0.8, 2),  # four words of five
        (["tea warms cold hands", "tea warms cold hands well"], 0.81, 6),
        # One pair that differs keeps all of them revising.
        (["tea warms hands", "tea warms hands", "coffee wakes people"], None, 9),
    ],
)
async def test_drafts_that_overlap_to_the_limit_are_final(
    drafts: list[str], overlap: float | None, calls: int
) -> None:
    limits = {} if overlap is None else {"overlap": overlap}
    setup = setup_for("roundtable", options={"agents": len(drafts)}, limits=limits)
    host = RehearsedHost(twist=lambda step: drafts[int(step.split("/")[2]) - 1])
    assert (await hold(setup, host)).calls == calls


@pytest.mark.parametrize(
    ("language", "drafts", "winner"),
    [
        ("tr", ("Çay sıcaktır.", "ÇAY SICAKTIR, İYİDİR.", "Kahve iyidir."), "2"),
        ("zh", ("茶很暖和。", "茶很暖和，也很好喝。", "咖啡很好喝。"), "2"),
        # Equally alike, they are level at any length.
        ("en", ("one two", "three four", "five six seven"), "tie"),
        ("en", ("one four", "six five", "ten nine"), "tie"),
    ],
)
async def test_the_draft_most_like_the_others_wins_in_any_script(
    language: str, drafts: tuple[str, ...], winner: str
) -> None:
    host = RehearsedHost(twist=lambda step: drafts[int(step.split("/")[2]) - 1])
    await hold(setup_for("roundtable", language=language, rounds=1), host)
    assert host.artifacts["result"].body["winner"] == winner


async def test_without_judges_the_draft_most_like_the_others_wins_after_the_vote() -> None:
    said = {"1": "tea is warm", "2": "tea is warm and good", "3": "coffee is good"}
    host = RehearsedHost(twist=lambda step: said[step.split("/")[2]])
    await hold(setup_for("roundtable"), host)
    report = host.waiting(Report)
    assert report.title == "Sceptic has the winning answer"
    assert "tea is warm and good" in report.text
    assert "winning" not in host.shown
    verdict = host.notes[-1].verdicts["roundtable"]
    assert (verdict.winner, verdict.rubric, verdict.valid) == ("2", "convergence", 0)
    result = host.artifacts["result"].body
    assert result["final"] == "tea is warm and good"
    assert "Practitioner 0.40, Sceptic 0.47, Historian 0.27" in str(result["note"])
    assert "make it work on Monday" in str(result["personas"])
    assert not [step for step in host.asked if step.startswith("judge")]


CRITERIA = [criterion.name for criterion in find_rubric("answers").criteria]
STEPS = ("judge", "judge/judge-2", "judge/judge-3", "judge/judge-4", "judge/judge-5")


def marked(setup: Setup, marks: Mapping[str, int], reasons: str = "CANARY of a judge") -> str:
    given = {setup.names[agent]: dict.fromkeys(CRITERIA, mark) for agent, mark in marks.items()}
    return orjson.dumps({"reasons": reasons, "marks": given}).decode()


def judged(setup: Setup, *judges: Mapping[str, int] | str | ModelError) -> RehearsedHost:
    said = dict(zip(STEPS, judges, strict=False))

    def twist(step: str) -> str | ModelError | None:
        if not step.startswith("judge"):
            return draft_of(step)
        answer = said[step.removesuffix("/again")]
        return marked(setup, answer) if isinstance(answer, Mapping) else answer

    return RehearsedHost(twist=twist)


async def test_judges_mark_blind_each_from_another_draft_on() -> None:
    setup = setup_for("roundtable", options={"judges": 3})
    names = [model.name for model in setup.request.sides.values()]
    host = judged(setup, *[{"1": 4, "2": 5, "3": 8}] * 3)
    usual, told = host.twist, f"As {names[0]} I say it, and {names[1].upper()} has seen it."
    host.twist = lambda step: usual(step) if step.startswith("judge") else f"{told} {step}"
    await hold(setup, host)
    verdict = host.notes[-1].verdicts["roundtable"]
    assert (verdict.winner, verdict.valid, verdict.rubric) == ("3", 3, "answers")
    assert verdict.blind
    leading = []
    for step in STEPS[:3]:
        prompt = host.said_to(step)
        assert "Agent 1" not in prompt
        assert "has seen it." in prompt
        assert not [name for name in names if name in prompt.casefold()]
        at = {agent: prompt.index(setup.names[agent]) for agent in "123"}
        leading.append(min(at, key=lambda agent: at[agent]))
    assert leading == ["1", "2", "3"]


async def test_of_several_judges_the_median_stands_and_the_spread_is_stored_and_shown() -> None:
    setup = setup_for("roundtable", options={"judges": 3})
    given = ({"1": 9, "2": 6, "3": 2}, {"1": 3, "2": 7, "3": 2}, {"1": 4, "2": 6, "3": 9})
    host = await hold(setup, judged(setup, *given))
    verdict = host.notes[-1].verdicts["roundtable"]
    assert (verdict.winner, verdict.by_judge) == ("2", ("1", "2", "3"))
    assert verdict.totals == {"1": pytest.approx(4), "2": pytest.approx(6), "3": pytest.approx(2)}
    alone = verdict.totals_by_judge[1] or {}
    assert dict(alone) == {agent: pytest.approx(mark) for agent, mark in given[1].items()}
    totals = {s.side: s.spread for s in host.scores if s.subject == "total"}
    assert totals == {"1": pytest.approx(6), "2": pytest.approx(1), "3": pytest.approx(7)}
    last = {turn.side: turn.step for turn in host.turns}
    (mark,) = [s for s in host.scores if (s.subject, s.criterion) == (last["1"], "correctness")]
    assert (mark.value, mark.spread) == (4, 6)
    report = host.waiting(Report)
    assert "Marks of 10: Sceptic 6.00, Practitioner 4.00, Historian 2.00." in report.text
    assert "3 judges, the median counts: 1 has Practitioner ahead, " in report.text
    assert "of an answer are 4.7 points apart on average" in report.text
    assert "Judge 3 has Historian ahead: CANARY of a judge" in report.text
    assert len([a for a in host.artifacts.values() if a.kind == "opinion"]) == 3


@pytest.mark.parametrize("scores", Scores)
async def test_a_judges_words_wait_for_the_vote_unless_live_and_name_agents_as_readers_do(
    scores: Scores,
) -> None:
    setup = setup_for("roundtable", options={"judges": 1}, scores=scores)
    told = f"CANARY: {setup.names['2']} is clearer than {setup.names['1']}."
    host = await hold(setup, judged(setup, marked(setup, {"1": 4, "2": 8, "3": 5}, told)))
    live = scores is Scores.LIVE
    assert ("CANARY" in host.shown, len(host.held)) == (live, 0 if live else 1)
    post = host.posts[-1] if live else host.held[0]
    assert isinstance(post.message, Report)
    assert "1 has Sceptic ahead: CANARY: Sceptic is clearer than Practit" in post.message.text


@pytest.mark.parametrize(
    "marks", [({"1": 8, "2": 4, "3": 2}, {"1": 4, "2": 8, "3": 2}), ({"1": 7, "2": 7, "3": 7},) * 2]
)
async def test_answers_with_the_same_total_are_a_tie(marks: tuple[Mapping[str, int], ...]) -> None:
    setup = setup_for("roundtable", options={"judges": 2})
    host = await hold(setup, judged(setup, *marks))
    verdict = host.notes[-1].verdicts["roundtable"]
    assert (verdict.winner, verdict.valid, verdict.invalid) == ("tie", 2, 0)
    assert host.artifacts["result"].body["final"] is None


async def test_more_judges_than_agents_begin_again_with_the_first_draft() -> None:
    setup = setup_for("roundtable", options={"agents": 2, "judges": 5})
    host = await hold(setup, RehearsedHost(twist=lambda s: None if "judge" in s else draft_of(s)))
    prompts = [host.said_to(step) for step in STEPS]
    turned = [prompt.index(setup.names["1"]) < prompt.index(setup.names["2"]) for prompt in prompts]
    assert turned == [True, False, True, False, True]


@pytest.mark.parametrize("wrong", ["no json", '{"reasons": "x", "marks": {"Nobody": {}}}', "{}"])
async def test_a_judge_that_cannot_be_read_gives_no_mark(wrong: str) -> None:
    setup = setup_for("roundtable", options={"judges": 1})
    host = await hold(setup, judged(setup, wrong))
    verdict = host.notes[-1].verdicts["roundtable"]
    assert (verdict.winner, verdict.valid, verdict.invalid) == (None, 0, 1)
    assert (verdict.totals, host.scores) == ({}, [])
    kept = host.artifacts["judge"]
    assert (kept.valid, kept.body["raw"]) == (False, wrong)
    assert "judge/again" in host.asked


@pytest.mark.parametrize("mark", [0, 11, 7.5, True, "8"])
async def test_a_mark_off_its_scale_is_sent_back(mark: object) -> None:
    setup = setup_for("roundtable", options={"judges": 1})
    good = orjson.loads(marked(setup, {"1": 4, "2": 8, "3": 5}))
    good["marks"][setup.names["2"]]["correctness"] = mark
    await hold(setup, host := judged(setup, orjson.dumps(good).decode()))
    assert "judge/again" in host.asked
    assert host.notes[-1].verdicts["roundtable"].winner is None


async def test_a_judge_that_is_down_leaves_the_debate_whole() -> None:
    setup = setup_for("roundtable", options={"judges": 2})
    host = await hold(setup, judged(setup, ModelError("down"), {"1": 4, "2": 8, "3": 5}))
    verdict = host.notes[-1].verdicts["roundtable"]
    assert (verdict.winner, verdict.valid, verdict.invalid) == ("2", 1, 1)
    assert host.artifacts["opinion/judge/1"].body["problem"] == "down"
    assert "Judge 1 gave no answer that could be read." in host.waiting(Report).text


async def test_a_draft_over_its_words_is_sent_back_once_and_then_kept_and_marked() -> None:
    host = RehearsedHost(twist=lambda step: f"a{step} " * 400)
    await hold(setup_for("roundtable", rounds=1), host)
    assert host.calls == 12
    assert {v.kind for turn in host.turns for v in turn.violations} == {"too_many_words"}


def test_agents_have_names_in_the_language_of_the_debate() -> None:
    for language, names in (
        ("en", ["Practitioner", "Sceptic", "Historian"]),
        ("de-AT", ["Praxis", "Zweifel", "Geschichte"]),
        ("es", ["Práctica", "Duda", "Historia"]),
        ("tr", ["Uygulamacı", "Kuşkucu", "Tarihçi"]),
        ("zh", ["实践者", "怀疑者", "历史学者"]),
        ("fi", ["Practitioner", "Sceptic", "Historian"]),
    ):
        assert list(setup_for("roundtable", language=language).called.values()) == names


@pytest.mark.parametrize(
    ("personas", "names", "texts"),
    [
        ("sceptic, b", ["Sceptic", "b", "Practitioner"], []),
        ('"a nurse, tired", economist', ["a nurse, tired", "Economist"], ["a nurse, tired"]),
        ("“Nurse: nights, wards” , sceptic", ["Nurse", "Sceptic"], ["nights, wards"]),
        ("'a, b',„c, d“,«e, f»", ["a, b", "c, d", "e, f"], ["a, b", "c, d", "e, f"]),
        ("a nurse's aide, sceptic", ["a nurse's aide", "Sceptic"], ["a nurse's aide"]),
        (["a nurse, tired", "b"], ["a nurse, tired", "b"], ["a nurse, tired", "b"]),
        ("sceptic, sceptic", ["Sceptic", "Sceptic 2"], []),
        ("**bold** <@1>, x", ["bold 1", "x"], []),
    ],
)
async def test_personas_may_hold_commas_and_bear_names(
    personas: object, names: list[str], texts: list[str]
) -> None:
    setup = setup_for("roundtable", options={"personas": personas})
    assert list(setup.called.values())[: len(names)] == names
    host = await hold(setup, RehearsedHost(twist=draft_of))
    for agent, text in enumerate(texts, 1):
        assert f"Your way of looking at things:\n> {text}\n" in host.said_to(f"turn/draft/{agent}")


def test_a_long_description_gets_a_drawn_name_and_no_name_tells_a_model() -> None:
    long = "somebody who has worked on night trains for thirty years"
    models = {"1": Model.parse("rehearsal/maple")}
    setup = setup_for("roundtable", options={"personas": f"{long}, maple fan"}, models=models)
    assert setup.called["1"] == setup.names["1"]
    assert "maple" not in setup.called["2"].lower()
    assert len(set(setup.called.values())) == 3


def test_the_panel_reads_final_answers_alone() -> None:
    said = [
        ("1", "draft", "First."),
        ("2", "draft", "Only --- one."),
        ("1", "revision-1", "Last.\n\n---\n\nI agree with the Sceptic."),
    ]
    turns = [
        turn(number, text, step=f"turn/{name}/{agent}", seat=agent, side=agent, round=name)
        for number, (agent, name, text) in enumerate(said, 1)
    ]
    read = find_format("roundtable").judged(turns)
    assert [(turn.side, turn.round, turn.text) for turn in read] == [
        ("1", "final answer", "Last."),
        ("2", "final answer", "Only --- one."),
    ]


NINE = {
    str(n): f"{n}: a name as long as it may be"[:NAME_CHARS].ljust(NAME_CHARS, "x")
    for n in range(1, 10)
}


@pytest.mark.parametrize("kind", list(BallotKind))
def test_nine_agents_with_long_names_fit_on_every_platform(kind: BallotKind) -> None:
    options = vote_options(tuple(NINE))
    invite = VoteInvite(options=options, minutes=30, quorum=5, ballot=kind, names=NINE)
    (part,) = discord.parts(invite, "stem")
    body = DiscordPayload.of(part).body
    rows = body["components"]
    assert len(rows) <= 5
    for row in rows:
        assert len(row["components"]) <= 5
        assert all(len(button["label"]) <= 80 for button in row["components"])
    text = body["embeds"][0]["description"]
    assert "Which final answer is best?" in text
    assert len(text) <= 4096
    assert kind is not BallotKind.OPEN or all(name in text for name in NINE.values())
    assert len(options) <= 20  # reactions of one message on Discord
    (part,) = slack.parts(invite, "stem")
    payload = SlackPayload.of(part)
    for block in payload.blocks:
        elements = block.get("elements", ()) if block["type"] == "actions" else ()
        assert len(elements) <= 25
        assert all(len(one["text"]["text"]) <= 75 for one in elements)
        written = block.get("text", "")
        assert len(written if isinstance(written, str) else written["text"]) <= 3000


async def test_of_two_agents_without_a_judge_neither_wins_for_the_length_of_its_draft() -> None:
    host = await hold(setup_for("roundtable", options={"agents": 2}))
    assert host.notes[-1].verdicts["roundtable"].winner == "tie"
    assert "how far they agree, not which is better" in host.waiting(Report).text
