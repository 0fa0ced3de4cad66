"""`roundtable`: drafts at the same time, revisions that read the others, and who wins."""

from __future__ import annotations

import orjson
import pytest

from engine.debate import Scores, TurnOrder
from engine.errors import ModelError, UsageError
from engine.formats import find_format
from engine.messages import Notice, Report
from tests.doubles.rehearsed import RehearsedDesk, hold, setup_for, survives_every_death


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
    desk = await hold(setup, RehearsedDesk(twist=draft_of))
    assert desk.calls == calls
    script = find_format("roundtable")
    assert len(desk.turns) == script.turns(setup.request)
    assert script.waves(setup.request) == len(script.rounds(setup.request))


async def test_all_drafts_of_a_round_are_written_at_the_same_time_and_posted_in_order() -> None:
    desk = RehearsedDesk(twist=draft_of, latency=lambda step: 0.02 if step.endswith("/1") else 0)
    await hold(setup_for("roundtable", options={"agents": 4}), desk)
    assert desk.most_talking == 4
    assert [turn.seat for turn in desk.turns] == list("1234") * 3


async def test_a_revision_reads_the_others_latest_drafts_and_nothing_earlier() -> None:
    desk = await hold(setup_for("roundtable"), RehearsedDesk(twist=draft_of))
    asked = desk.asked["turn/revision-2/1"][-1].content
    assert "Draft revision-1 of agent2." in asked
    assert "Draft revision-1 of agent3." in asked
    assert "of agent1" not in asked
    assert "Draft draft of" not in asked
    first = desk.said_to("turn/draft/1")
    assert "agent2" not in first
    assert "agent3" not in first


async def test_what_was_changed_is_shown_and_is_no_part_of_the_draft() -> None:
    desk = RehearsedDesk(
        twist=lambda step: (
            f"Body {step}.\n\n---\n\nI changed it all." if "revision" in step else None
        )
    )
    await hold(setup_for("roundtable"), desk)
    assert "I changed it all." in desk.turns[3].text
    assert "I changed it all." not in desk.asked["turn/revision-2/2"][-1].content


async def test_agents_look_at_things_in_their_own_way() -> None:
    desk = await hold(setup_for("roundtable", options={"personas": "sceptic, a poet from Rize"}))
    prompts = [desk.said_to(f"turn/draft/{agent}") for agent in "123"]
    assert "which claim is weakest" in prompts[0]
    assert "a poet from Rize" in prompts[1]
    assert "make it work on Monday" in prompts[2]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"agents": 10}, "option agents"),
        ({"agents": 1}, "option agents"),
        ({"seats": 3}, "no option “seats”; it has: agents, personas"),
        ({"agents": 2, "personas": "a, b, c"}, "3 personas are named for 2 agents"),
    ],
)
def test_wrong_options_are_refused_with_a_sentence(options: dict[str, object], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        setup_for("roundtable", options=options)


def test_one_model_may_play_every_agent() -> None:
    alike = setup_for("roundtable", options={"one_model": True}).request
    assert len(set(alike.sides.values())) == 1
    assert len(set(setup_for("roundtable").request.sides.values())) == 3
    assert alike.turn_order is TurnOrder.SIMULTANEOUS


@pytest.mark.parametrize(
    ("language", "text"),
    [("en", "Tea warms the hands."), ("tr", "Çay elleri ısıtır."), ("zh", "茶能让手变得暖和。")],
)
async def test_agreement_ends_it_early_and_says_what_was_saved(language: str, text: str) -> None:
    desk = RehearsedDesk(twist=lambda step: text)
    await hold(setup_for("roundtable", language=language), desk)
    assert desk.calls == 3
    (notice,) = [post.message for post in desk.posts if isinstance(post.message, Notice)]
    assert "6 calls saved" in notice.text


async def test_drafts_that_overlap_less_than_the_limit_are_revised() -> None:
    setup = setup_for("roundtable", limits={"overlap": 0.3})
    shared = RehearsedDesk(twist=lambda step: f"shared words stay{step[-1]}")
    assert (await hold(setup, shared)).calls == 3
    strict = RehearsedDesk(twist=lambda step: f"shared words stay{step[-1]}")
    assert (await hold(setup_for("roundtable"), strict)).calls == 9


@pytest.mark.parametrize(
    ("overlap", "calls"),
    [(0.8, 2), (0.81, 6)],  # four words of five are shared
)
async def test_drafts_that_overlap_as_much_as_the_limit_are_final(
    overlap: float, calls: int
) -> None:
    said = {"1": "tea warms cold hands", "2": "tea warms cold hands well"}
    setup = setup_for("roundtable", options={"agents": 2}, limits={"overlap": overlap})
    desk = await hold(setup, RehearsedDesk(twist=lambda step: said[step.split("/")[2]]))
    assert desk.calls == calls


async def test_one_pair_that_differs_keeps_all_of_them_revising() -> None:
    said = {"1": "tea warms hands", "2": "tea warms hands", "3": "coffee wakes people"}
    desk = RehearsedDesk(twist=lambda step: said[step.split("/")[2]])
    assert (await hold(setup_for("roundtable"), desk)).calls == 9


@pytest.mark.parametrize(
    ("language", "drafts"),
    [
        ("en", ("Tea is warm.", "Tea is warm and good.", "Coffee is good.")),
        ("tr", ("Çay sıcaktır.", "ÇAY SICAKTIR, İYİDİR.", "Kahve iyidir.")),
        ("zh", ("茶很暖和。", "茶很暖和，也很好喝。", "咖啡很好喝。")),
    ],
)
async def test_the_draft_most_like_the_others_wins_in_any_script(
    language: str, drafts: tuple[str, ...]
) -> None:
    desk = RehearsedDesk(twist=lambda step: drafts[int(step.split("/")[2]) - 1])
    await hold(setup_for("roundtable", language=language), desk)
    assert desk.calls == 9
    assert desk.artifacts["result"].body["winner"] == "2"


@pytest.mark.parametrize(
    ("drafts", "winner"),
    [
        (("one two", "three four", "five six seven"), "3"),
        (("one two", "three four", "five six"), "2"),
        (("one four", "six five", "ten nine"), "1"),
    ],
)
async def test_drafts_equally_alike_are_told_apart_by_length_and_then_by_number(
    drafts: tuple[str, ...], winner: str
) -> None:
    desk = RehearsedDesk(twist=lambda step: drafts[int(step.split("/")[2]) - 1])
    await hold(setup_for("roundtable", rounds=1), desk)
    assert desk.artifacts["result"].body["winner"] == winner


async def test_without_judges_the_draft_most_like_the_others_wins_after_the_vote() -> None:
    said = {"1": "tea is warm", "2": "tea is warm and good", "3": "coffee is good"}
    desk = RehearsedDesk(twist=lambda step: said[step.split("/")[2]])
    await hold(setup_for("roundtable"), desk)
    (post,) = desk.held
    assert isinstance(post.message, Report)
    assert post.message.title == "Agent 2 has the winning draft"
    assert "tea is warm and good" in post.message.text
    assert "winning" not in desk.shown
    verdict = desk.notes[-1].verdicts["roundtable"]
    assert (verdict.winner, verdict.rubric, verdict.valid) == ("2", "convergence", 0)
    result = desk.artifacts["result"].body
    assert result["final"] == "tea is warm and good"
    assert "agent 1 0.40, agent 2 0.47, agent 3 0.27" in str(result["note"])
    assert "make it work on Monday" in str(result["personas"])
    assert not [step for step in desk.asked if step.startswith("judge")]


def picking(agent: str) -> RehearsedDesk:
    """Return a desk whose judges all pick an agent, and say so in words that are a canary."""
    setup = setup_for("roundtable", options={"judges": 3})
    name = setup.names[agent]

    def twist(step: str) -> str | None:
        if not step.startswith("judge/"):
            return draft_of(step)
        return orjson.dumps({"reasons": "CANARY of a judge", "best": name}).decode()

    return RehearsedDesk(twist=twist)


async def test_judges_pick_blind_each_from_another_draft_on() -> None:
    setup = setup_for("roundtable", options={"judges": 3})
    desk = await hold(setup, picking("3"))
    verdict = desk.notes[-1].verdicts["roundtable"]
    assert (verdict.winner, verdict.valid, verdict.rubric) == ("3", 3, "best_draft")
    leading = []
    for number in (1, 2, 3):
        prompt = desk.said_to(f"judge/{number}")
        assert "Agent 1" not in prompt
        assert not any(model.name in prompt for model in setup.request.sides.values())
        at = {agent: prompt.index(setup.names[agent]) for agent in "123"}
        leading.append(min(at, key=lambda agent: at[agent]))
    assert leading == ["1", "2", "3"]


async def test_a_draft_that_names_a_model_does_not_name_it_to_the_judges() -> None:
    setup = setup_for("roundtable", options={"judges": 1})
    names = [model.name for model in setup.request.sides.values()]
    told = f"As {names[0]} I say it, and {names[1].upper()} has seen it."
    desk = await hold(setup, RehearsedDesk(twist=lambda s: told if s.startswith("turn/") else None))
    prompt = desk.said_to("judge/1").casefold()
    assert "has seen it." in prompt
    assert not [name for name in names if name in prompt]


async def test_a_judges_words_wait_for_the_vote_unless_scores_are_live() -> None:
    sealed = await hold(setup_for("roundtable", options={"judges": 3}), picking("2"))
    assert "CANARY" not in sealed.shown
    assert "CANARY" in sealed.held[0].model_dump_json()
    live_setup = setup_for("roundtable", options={"judges": 3}, scores=Scores.LIVE)
    live = await hold(live_setup, picking("2"))
    assert "CANARY" in live.shown
    assert live.held == []


async def test_readers_are_told_agents_and_not_the_names_that_judges_read() -> None:
    setup = setup_for("roundtable", options={"judges": 1})
    told = f"{setup.names['2']} is clearer than {setup.names['1']}."
    answer = orjson.dumps({"reasons": told, "best": setup.names["2"]}).decode()
    desk = RehearsedDesk(twist=lambda step: answer if "judge" in step else draft_of(step))
    await hold(setup, desk)
    (post,) = desk.held
    assert isinstance(post.message, Report)
    assert "Judge 1 picks agent 2: agent 2 is clearer than agent 1." in post.message.text


@pytest.mark.parametrize("best", [("1", "2"), ("tie", "tie")])
async def test_judges_who_are_divided_call_it_a_tie(best: tuple[str, str]) -> None:
    setup = setup_for("roundtable", options={"judges": 2})

    def twist(step: str) -> str | None:
        if not step.startswith("judge/"):
            return draft_of(step)
        picked = best[int(step.split("/")[1]) - 1]
        return orjson.dumps({"reasons": "x", "best": setup.names.get(picked, picked)}).decode()

    desk = await hold(setup, RehearsedDesk(twist=twist))
    verdict = desk.notes[-1].verdicts["roundtable"]
    assert (verdict.winner, verdict.valid, verdict.invalid) == ("tie", 2, 0)
    assert desk.artifacts["result"].body["final"] is None


async def test_more_judges_than_agents_begin_again_with_the_first_draft() -> None:
    setup = setup_for("roundtable", options={"agents": 2, "judges": 5})
    desk = await hold(setup, RehearsedDesk(twist=lambda s: None if "judge" in s else draft_of(s)))
    prompts = [desk.said_to(f"judge/{number}") for number in range(1, 6)]
    turned = [prompt.index(setup.names["1"]) < prompt.index(setup.names["2"]) for prompt in prompts]
    assert turned == [True, False, True, False, True]


@pytest.mark.parametrize("answer", ["no json", '{"reasons": "x", "best": "Nobody"}', "{}"])
async def test_a_judge_that_cannot_be_read_picks_nobody(answer: str) -> None:
    desk = RehearsedDesk(twist=lambda step: answer if "judge" in step else draft_of(step))
    await hold(setup_for("roundtable", options={"judges": 1}), desk)
    verdict = desk.notes[-1].verdicts["roundtable"]
    assert (verdict.winner, verdict.valid, verdict.invalid) == (None, 0, 1)
    kept = desk.artifacts["judge/1"]
    assert (kept.valid, kept.body["raw"]) == (False, answer)
    assert "judge/1/again" in desk.asked


async def test_a_judge_that_is_down_leaves_the_debate_whole() -> None:
    desk = RehearsedDesk(
        twist=lambda step: ModelError("down") if "judge/1" in step else draft_of(step)
    )
    await hold(setup_for("roundtable", options={"judges": 2}), desk)
    verdict = desk.notes[-1].verdicts["roundtable"]
    assert (verdict.valid, verdict.invalid) == (1, 1)
    assert desk.artifacts["judge/1"].body["problem"] == "down"


async def test_a_draft_over_its_words_is_sent_back_once_and_then_kept_and_marked() -> None:
    desk = RehearsedDesk(twist=lambda step: f"a{step} " * 400)
    await hold(setup_for("roundtable", rounds=1), desk)
    assert desk.calls == 12
    assert {v.kind for turn in desk.turns for v in turn.violations} == {"too_many_words"}


async def test_killed_at_every_step_it_ends_the_same() -> None:
    assert await survives_every_death(setup_for("roundtable", options={"judges": 2})) == 11
