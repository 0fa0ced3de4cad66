"""The juror who says why the panel decided so: what it is sent, and what becomes of its answer."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from engine.jury.explain import (
    ExplanationRequest,
    explain,
    explains,
    of_artifacts,
    to_artifact,
    writer,
)
from engine.prompts import Prompts, load_prompts
from engine.values.debate import Debate, Model, PanelSetup, Price, Sampling, Setup, Status
from engine.values.errors import BudgetError, ModelError, RostrumError, StoppedError
from engine.values.ports import Call, Reply
from engine.values.verdicts import Ballot, Rationale, Verdict
from tests.kit import ballot, make_setup, new_debate, some, stored

PROMPTS = load_prompts()
JURORS = tuple(Model.parse(f"near/{name}") for name in ("oak-70b", "elm-2", "fir-x"))
WON = Verdict(winner="A", p={"A": 0.9, "B": 0.1}, z=1.0, valid=3, invalid=0)
GOOD: dict[str, Any] = {
    "winner": "A",
    "decisive": "A answered the main objection.",
    "best": {"A": "It named a cause.", "B": "It asked for a price."},
    "differed": "",
}


def cast(juror: Model, lead: float, verdict: str = "A") -> Ballot:
    reasons = f"Alder met Rowan's point, said {juror.name}, and Side A won."
    signal = {"A": lead, "B": -lead}
    return ballot(juror.ref, signal=signal, verdict=verdict, reasons=reasons)


def held(setup: Setup) -> Debate:
    return stored(new_debate(setup=setup), status=Status.VOTING)


def case_of(
    verdict: Verdict = WON, prices: Mapping[str, float] | None = None
) -> ExplanationRequest:
    """Return a case of three jurors, of whom the second is nearest to the result."""
    setup = make_setup(topic="Is maple better than elm-2?", why=True)
    priced = {ref: Price(usd_in=usd, usd_out=usd) for ref, usd in (prices or {}).items()}
    update = {
        "panel": PanelSetup(roster=JURORS),
        "sampling": {"juror": Sampling(temperature=0, max_tokens=500)},
        "prices": priced,
    }
    debate = held(setup.model_copy(update=update))
    leads = (2.5, 1.1, -0.6)
    ballots = tuple(cast(juror, lead) for juror, lead in zip(JURORS, leads, strict=True))
    return ExplanationRequest(debate, verdict, ballots)


async def test_a_ballot_that_contradicts_its_scores_gives_no_reason_for_the_result() -> None:
    case = case_of()
    odd = case.ballots[1].model_copy(update={"contradictory": True, "verdict": "B"})
    case = case._replace(ballots=(case.ballots[0], odd, case.ballots[2]))
    _, juror = await told(GOOD, case)
    ((_, model, sent),) = juror.asked
    assert model != JURORS[1]
    assert "A juror who decided for B" not in sent


class Juror:
    """Answers once, with a text or a failure."""

    def __init__(self, answer: str | RostrumError) -> None:
        self.answer = answer
        self.asked: list[tuple[str, Model, str]] = []

    async def call(self, call: Call) -> Reply:
        sent = "\n".join(message.content for message in call.messages)
        self.asked.append((call.step, call.model, sent))
        if isinstance(self.answer, RostrumError):
            raise self.answer
        return Reply(text=self.answer, finish="stop", model=call.model.name)


async def told(answer: object, case: ExplanationRequest | None = None) -> tuple[Rationale, Juror]:
    juror = Juror(answer if isinstance(answer, str | RostrumError) else json.dumps(answer))
    why = some(await explain(case or case_of(), PROMPTS, juror))
    assert len(juror.asked) == 1
    return why, juror


async def test_it_is_sent_what_all_jurors_wrote_and_no_name_of_a_model() -> None:
    why, juror = await told(GOOD)
    assert why.text == GOOD["decisive"]
    assert why.best == GOOD["best"]
    assert (why.differed, why.juror, why.problem, why.quoted) == ("", "near/elm-2", "", False)
    ((step, _, sent),) = juror.asked
    assert step == "why"
    assert sent.count("> 🔵 A met 🔴 B's point") == 3
    assert "The jury's result is: A." in sent
    for name in ("Alder", "Rowan", "maple", "birch", "elm", "oak-70b", "fir-x"):
        assert name not in sent
    kept = to_artifact(why)
    assert (kept.name, kept.kind, kept.valid) == ("why", "why", True)
    assert kept.body["juror"] == "near/elm-2"
    assert of_artifacts([kept]) == why


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"winner": "B"}, "another winner"),
        ({"winner": "tie"}, "another winner"),
        ({"decisive": "A won, as maple said."}, "names a model"),
        ({"differed": "I am Claude, and differed."}, "names a model"),
        ({"best": {"A": "It is [name].", "B": "It asked."}}, "names a model"),
        ({"best": {"A": "It named a cause."}}, "“B” is not a text"),
        ({"decisive": " "}, "“decisive” is not a text"),
        ({"differed": 3}, "“differed” is not a text"),
        ({"decisive": "A" * 441}, "at most 220 were asked for"),
    ],
)
async def test_an_unshowable_answer_is_a_problem(change: dict[str, Any], problem: str) -> None:
    why, _ = await told(GOOD | change)
    assert problem in why.problem
    assert (why.text, why.juror) == ("", "near/elm-2")
    assert of_artifacts([to_artifact(why)]) is None


@pytest.mark.parametrize(
    "failure",
    [
        "no JSON at all",
        ModelError("It is away.", model="near/elm-2"),
        BudgetError("The cap is reached."),
        StoppedError("It was stopped."),
    ],
)
async def test_no_answer_is_a_problem_and_stops_nothing(failure: str | RostrumError) -> None:
    why, _ = await told(failure)
    assert why.problem
    assert not why.text


def test_the_cheapest_juror_writes_and_of_several_the_nearest_to_the_result() -> None:
    for prices, name in (
        ({}, "elm-2"),
        ({juror.ref: 1.0 for juror in JURORS}, "elm-2"),
        ({JURORS[0].ref: 0.1, JURORS[1].ref: 0.2, JURORS[2].ref: 3.0}, "oak-70b"),
        ({JURORS[2].ref: 9.0}, "fir-x"),  # the others' prices are unknown
    ):
        found = some(writer(case_of(prices=prices)))
        assert found.name == name


def test_it_is_asked_only_where_there_is_a_result_and_the_debate_has_the_question() -> None:
    case = case_of()
    without = Prompts({k: text for k, text in PROMPTS.texts.items() if k != "jury/why"})
    assert explains(case.debate, WON, PROMPTS)
    assert not explains(case.debate, WON, without)
    assert not explains(case.debate, WON.model_copy(update={"winner": None}), PROMPTS)
    assert not explains(case.debate, None, PROMPTS)
    assert not explains(held(make_setup()), WON, PROMPTS)  # held before there was the option
