"""Why a panel decided as it did, in the words of the juror that is nearest to its result."""

import pytest

from engine.jury.explain import mean_marks, quote_juror, representative, told_reasons
from engine.values.text import whole_sentences
from engine.values.verdicts import Ballot, Verdict
from tests.kit import ballot, make_setup, some

SETUP = make_setup()
WON = Verdict(winner="A", p={"A": 0.9, "B": 0.1}, z=1.0, valid=3, invalid=0)


def of(juror: str, lead: float, verdict: str = "A", **more: object) -> Ballot:
    """Return a ballot whose signal leads to A by so much."""
    return ballot(juror, signal={"A": lead, "B": -lead}, verdict=verdict, reasons=juror, **more)


def test_the_nearest_to_the_result_of_those_who_decided_speaks_for_the_panel() -> None:
    cast = [of("oak", 2.5), of("elm", 1.1), of("fir", -0.6, "B")]
    for order in (cast, cast[::-1]):
        found = some(representative(WON, order))
        assert found.juror == "elm"
    # Who named another winner speaks only if no one named this one.
    assert representative(WON, [of("oak", 2.5), of("fir", 1.2, "B")]) == of("oak", 2.5)
    assert representative(WON, [of("oak", 1.0, audit=True), of("elm", 1.0, valid=False)]) is None
    none = WON.model_copy(update={"winner": None})
    assert quote_juror(SETUP, none, [of("oak", 1.0)]) is None
    silent = of("oak", 1.0).model_copy(update={"reasons": " "})
    assert quote_juror(SETUP, WON, [silent]) is None


def test_sides_are_called_what_people_call_them_and_no_model_is_named() -> None:
    text = "Alder showed more; Rowan's case, as claude-3 from maple, leaned on I am GPT-4."
    told = told_reasons(SETUP, ballot(reasons=text), 600)
    assert told.startswith("A showed more; B's case")
    for name in ("Alder", "Rowan", "maple", "GPT"):
        assert name not in told
    agents = SETUP.model_copy(update={"called": {"A": "Nurse", "B": "Sceptic"}})
    assert told_reasons(agents, ballot(reasons=text), 600).startswith("Nurse showed more; Sceptic")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("One is short. Two is much longer than that.", "One is short."),
        ("一句很短。第二句要长得多，多得多，多得多，多得多，多得多。", "一句很短。"),
        ("no sentence of this ends within the limit", "no sentence of this…"),
        ("It costs 3.5 millions and more and more.", "It costs 3.5 millions…"),
    ],
)
def test_words_end_with_a_sentence_or_between_two_words(text: str, kept: str) -> None:
    assert whole_sentences(text, 22) == kept
    assert whole_sentences(text, 100) == text


def test_marks_are_the_means_of_what_counts() -> None:
    def sheet(a: int, b: int) -> dict[str, dict[str, int]]:
        return {"A": {"logic": a}, "B": {"logic": b}}

    cast = [
        *(ballot(scores=sheet(8, 5)), ballot(scores=sheet(7, 4))),
        *(ballot(scores=sheet(1, 9), audit=True), ballot(valid=False)),
    ]
    assert mean_marks(cast) == {"A": {"logic": 7.5}, "B": {"logic": 4.5}}
    assert mean_marks([]) == {}
