"""Why a panel decided as it did, taken from what its jurors wrote; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from engine.blinding.identity import names_of, redact
from engine.values.debate import Setup
from engine.values.text import clean, marked, rename, whole_sentences
from engine.values.verdicts import TIE, Ballot, Rationale, Verdict

REASONS, SENTENCE = 600, 300  # characters of a juror's reasons, and of those that a reveal quotes


def told_reasons(setup: Setup, ballot: Ballot, most: int, *, marks: bool = False) -> str:
    """Return a juror's reasons as people read them: sides by name, no model's name, not too long.

    They end with a sentence, or between words if the first one is too long. With `marks` sides
    have theirs, as in everything that is shown.
    """
    names = {
        ballot.names[side]: marked(name) if marks else name for side, name in called(setup).items()
    }
    text = " ".join(clean(redact(ballot.reasons, names_hidden(setup))).split())
    return whole_sentences(rename(text, names), most)


def called(setup: Setup) -> dict[str, str]:
    """Return what people call each contender: its letter, or its name."""
    return {side: setup.called.get(side, side) for side in setup.request.sides}


def names_hidden(setup: Setup) -> frozenset[str]:
    """Return every name of a model that speaks or judges in a debate."""
    jurors = (*setup.panel.roster, *setup.panel.recused)
    return names_of(setup) | {name for juror in jurors for name in (juror.name, juror.family)}


def representative(verdict: Verdict, ballots: Iterable[Ballot]) -> Ballot | None:
    """Return the ballot nearest to the panel's result, of those that agree with themselves."""
    counted = [one for one in ballots if one.explains]
    if verdict.winner is None or not counted:
        return None
    side = counted[0].order[0] if verdict.winner == TIE else verdict.winner
    mean = fmean(_signal(one, side) for one in counted)

    def distance(one: Ballot) -> tuple[bool, float, str, tuple[str, ...]]:
        far = round(abs(_signal(one, side) - mean), 9)
        return one.verdict != verdict.winner, far, one.juror, one.order

    return min(counted, key=distance)


def _signal(ballot: Ballot, side: str) -> float:
    return (ballot.signal or {}).get(side, 0.0)


def quote(setup: Setup, verdict: Verdict, ballots: Iterable[Ballot]) -> Rationale | None:
    """Return the most representative juror's own words; None where no one wrote any."""
    ballot = representative(verdict, ballots)
    text = told_reasons(setup, ballot, SENTENCE, marks=True) if ballot else ""
    return Rationale(text=text, juror=ballot.juror, quoted=True) if ballot and text else None


def mean_marks(ballots: Sequence[Ballot]) -> dict[str, dict[str, float]]:
    """Return the mean of the marks that count, for each contender by criterion."""
    sheets = [one.scores for one in ballots if one.valid and not one.audit and one.scores]
    if not sheets:
        return {}
    return {
        side: {name: fmean(sheet[side][name] for sheet in sheets) for name in marks}
        for side, marks in sheets[0].items()
    }
