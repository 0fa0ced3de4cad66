"""Questions whose right answer is known: every protocol, and who does not learn the answer."""

import re
from pathlib import Path
from typing import Any

import pytest

from engine.values.debate import Model, TrialProtocol
from engine.values.messages import VoteInvite
from engine.values.topics import Topic
from engine.words.cards import card_of
from tests.doubles.whole_debate import DEFAULTS, HeardModels, Whole, hold_whole

SUM = Topic(
    text="What is 17 × 24?",
    choices=("408", "398"),
    answer="408",
    source="Ten times 24 is 240, and seven times 24 is 168.",
)
SPEAKERS = {
    TrialProtocol.DIRECT: set(),
    TrialProtocol.CONSULTANCY: {"B"},  # by this seed
    TrialProtocol.DEBATE: {"A", "B"},
    TrialProtocol.OPEN: {"A", "B"},
    TrialProtocol.EXPERT: set(),
}


async def hold(url: str, out: Path, topic: Topic = SUM, **asked: Any) -> Whole:
    listed = DEFAULTS.model_copy(update={"topics": (topic,)})
    return await hold_whole(url, out, listed, topic=topic.text, **asked)


@pytest.mark.parametrize("protocol", TrialProtocol)
async def test_a_protocol_says_who_speaks_and_what_jurors_read(
    database_url: str, tmp_path: Path, protocol: TrialProtocol
) -> None:
    whole = await hold(database_url, tmp_path / "out", protocol=protocol)
    assert {step.split("/")[2] for step in whole.heard if step.startswith("turn/")} == SPEAKERS[
        protocol
    ]
    stances = whole.debate.request.stances
    assert sorted(stances.values()) == ["398", "408"]
    jury = whole.sent("jury/")
    assert jury
    for text in jury:
        assert "which of two answers to a question is right" in text
        assert sorted(re.findall(r"^The answer of \w+:\n> (\d+)$", text, re.M)) == ["398", "408"]
        assert (SUM.source in text) is (protocol is TrialProtocol.EXPERT)
        assert ("No one argues" in text) is (not SPEAKERS[protocol])
    told = [text for step, text in whole.heard.items() if step.startswith("turn/")]
    assert all(SUM.source in text for text in told)
    (invite,) = [message for message in whole.posted if isinstance(message, VoteInvite)][:1]
    paper = card_of(invite).ballot
    assert paper is not None
    assert paper.asks == "**Which answer is right?**"
    assert whole.debate.setup.panel.rubric == "truth"


async def test_a_consultant_is_given_an_answer_by_the_seed(
    database_url: str, tmp_path: Path
) -> None:
    sides, right = set(), set()
    for seed in range(6):
        whole = await hold(database_url, tmp_path / f"{seed}", protocol="consultancy", seed=seed)
        setup = whole.debate.setup
        sides.add(setup.advocate)
        right.add(setup.request.stances[setup.advocate] == SUM.answer)
        assert {step.split("/")[2] for step in whole.heard if step.startswith("turn/")} == {
            setup.advocate
        }
    assert sides == {"A", "B"}
    assert right == {True, False}


@pytest.mark.parametrize("right", [1, 0])
async def test_in_an_open_debate_the_first_model_argues_what_it_holds_right(
    database_url: str, tmp_path: Path, right: int
) -> None:
    sure = {
        side: Model.parse(f"rehearsal/{name}?right={right}")
        for side, name in zip("AB", ("one", "two"), strict=True)
    }
    for seed in range(3):
        heard = HeardModels()
        asked: dict[str, Any] = {"protocol": "open", "models": sure, "seed": seed}
        whole = await hold(database_url, tmp_path / f"{seed}", asking=heard, **asked)
        request = whole.debate.request
        (chosen,) = [side for side, model in request.sides.items() if model.name.startswith("one")]
        assert (request.stances[chosen] == SUM.answer) is bool(right)
        assert whole.debate.setup.advocate == chosen
        assert list(heard.heard).count("trial/choice") == 1


async def test_a_round_table_reads_what_it_chooses_among(database_url: str, tmp_path: Path) -> None:
    whole = await hold(database_url, tmp_path / "out", format="roundtable")
    assert "names one of these, and nothing else: 408 · 398" in whole.debate.request.conditions
    assert all("408 · 398" in text for text in whole.sent("turn/draft"))
