"""The invitation to vote recalls what was debated, in plain words."""

from datetime import UTC, datetime

import pytest

from adapters.discord.render import DESCRIPTION, DiscordPayload, parts as discord_parts, units
from adapters.slack.render import SlackPayload, parts as slack_parts
from engine.run.invitation import CASE, case_of, cases_of, ending_of
from engine.values.debate import BallotKind, Model
from engine.values.messages import VoteInvite
from engine.words.translation import LANGUAGES
from tests.kit import make_debate, make_turn

UNTIL = datetime(2030, 1, 2, 3, 4, tzinfo=UTC)
CASES = {
    "A synthesis.\n\n---\n\nAccept the motion: it pays.": "Accept the motion: it pays.",
    "# Closing\n\n**We** win, _as_ `x` shows.\n\n| a | b |\n|---|---|\n": "We win, as x shows.",
    "1. First.\n2. Second.": "First. Second.",
    "Ask <@123> and @all, see [here](https://x.y/z).": "Ask [mention] and [mention], see here.",
    "```\ncode\n```\n> Said ||hidden|| 👩‍👩‍👧": "Said hidden 👩‍👩‍👧",
    "---\n\n***": "",
    "結論として、採用すべきだ。": "結論として、採用すべきだ。",
}


@pytest.mark.parametrize(("said", "told"), CASES.items())
def test_a_case_is_one_plain_line(said: str, told: str) -> None:
    assert case_of(ending_of(said), CASE) == told


@pytest.mark.parametrize(
    "sentence",
    ["Short and to the point. ", "antidisestablishmentarianism ", "论点很清楚。", "नमस्ते दुनिया "],
)
def test_a_case_is_never_cut_within_a_word_and_says_that_it_is_shortened(sentence: str) -> None:
    told = case_of(sentence * 60, CASE)
    assert len(told) <= CASE + 2
    kept = told.removesuffix("…").rstrip()
    assert told.endswith("…")
    assert kept == (sentence * 60)[: len(kept)]
    assert kept.endswith(sentence.strip().rsplit(" ")[-1]) or (sentence * 60)[len(kept)] == " "


def invite(language: str, ballot: BallotKind = BallotKind.OPEN, n: int = 2) -> VoteInvite:
    names = {str(i): f"Agent {i} " + "名" * 40 for i in range(1, n + 1)} if n > 2 else {}
    sides = tuple(names) or ("A", "B")
    return VoteInvite(
        language=language,
        options=(*sides, "tie", "weak"),
        minutes=30,
        quorum=5,
        ballot=ballot,
        topic="🧪" * 299 + "…",
        cases=dict.fromkeys(sides, "字" * CASE),
        stances={} if names else {"A": "🅰" * 200, "B": "🅱" * 200},
        names=names,
        link="https://discord.com/channels/1/2/3",
        until=UNTIL,
    )


@pytest.mark.parametrize("language", ["en", *LANGUAGES])
def test_the_longest_invitation_is_one_message(language: str) -> None:
    for ballot in BallotKind:
        for n in (2, 9):
            asked = invite(language, ballot, n)
            [part] = discord_parts(asked, "k7·9")
            embed = DiscordPayload.of(part).body["embeds"][0]
            assert units(embed["description"]) <= DESCRIPTION
            assert f"<t:{int(UNTIL.timestamp())}:R>" in embed["description"]
            assert asked.link in embed["description"]
            [part] = slack_parts(asked, "k7·9")
            *_, last = SlackPayload.of(part).blocks
            assert f"<!date^{int(UNTIL.timestamp())}^" in last["elements"][-1]["text"]


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ("Maintains its position.", {"A": "It pays.", "B": "It costs."}),
        (
            "Gives up its position.",
            {"A": "Maintains its position. It pays.", "B": "Gives up its position. It costs."},
        ),
    ],
)
def test_what_all_sides_decided_alike_is_left_out_of_their_cases(
    second: str, told: dict[str, str]
) -> None:
    said = ["A sum.\n\n---\n\n**Maintains its position.**\n\nIt pays."]
    said.append(f"A sum.\n\n---\n\n**{second}**\n\nIt costs.")
    turns = [make_turn(number, text) for number, text in enumerate(said, 1)]
    assert [turn.side for turn in turns] == ["A", "B"]
    assert cases_of(make_debate(1), turns) == told


def test_a_case_names_no_model_that_debates_or_judges() -> None:
    sides = {"A": Model.parse("near/zephyrine-9"), "B": Model.parse("near/quokkaton")}
    debate = make_debate(1, sides=sides)
    said = "As Claude I say what zephyrine-9 and Quokkaton know: tea wins."
    [told] = cases_of(debate, [make_turn(1, said)]).values()
    assert told == "As [name] I say what [name] and [name] know: tea wins."
