"""One juror says why the panel decided so, from what all jurors wrote; asked once, and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from engine.blinding import identity
from engine.blinding.identity import names_of, redact
from engine.prompts import Prompts, language_name, quote
from engine.stage.shapes import TEXT, by_key, choice, named
from engine.stage.steps import Caller
from engine.stage.structured import Object, example_texts, is_filler, read_object
from engine.values.debate import Debate, Model, Setup
from engine.values.errors import BudgetError, ModelError, StoppedError, UnreadableError
from engine.values.ports import AnswerSchema, Call, ChatMessage
from engine.values.text import clean, is_visible, marked, rename, unmarked, whole_sentences
from engine.values.verdicts import TIE, Artifact, Ballot, Rationale, Verdict

STEP = "why"  # of the call, and the name and kind of the artifact
TEMPLATE = "jury/why"
SENTENCE, POINT = 220, 140  # characters that are asked for
LENIENCE = 2  # times as many are read
FAILURES = (ModelError, BudgetError, StoppedError, UnreadableError)


class ExplanationRequest(NamedTuple):
    """What a juror is asked to explain."""

    debate: Debate
    verdict: Verdict
    ballots: Sequence[Ballot]

    @property
    def setup(self) -> Setup:
        """The setup of its debate."""
        return self.debate.setup

    @property
    def names(self) -> Mapping[str, str]:
        """What people call each contender."""
        return called(self.setup)

    @property
    def result(self) -> str:
        """The winner, as people call it."""
        return self.names.get(self.verdict.winner or "", TIE)

    @property
    def counted(self) -> Sequence[Ballot]:
        """The ballots whose reasons may stand for the result."""
        return [one for one in self.ballots if one.explains]


def explains(debate: Debate, verdict: Verdict | None, prompts: Prompts) -> bool:
    """Return whether a juror is asked; a debate of a version without the question has none."""
    decided = verdict is not None and verdict.winner is not None
    return debate.request.why and decided and TEMPLATE in prompts.texts


async def explain(case: ExplanationRequest, prompts: Prompts, steps: Caller) -> Rationale | None:
    """Ask a juror why the panel decided so; None if no ballot decided.

    An answer that cannot be used, or none, is a `problem`. Raises LeaseLostError or PausedError.
    """
    juror = writer(case)
    if juror is None:
        return None
    try:
        messages = _ask(case, prompts)
        sampling, schema = case.setup.sampling["juror"], why_schema(tuple(case.names.values()))
        request = case.debate.request
        call = Call(
            STEP,
            juror,
            messages,
            sampling,
            schema,
            (
                {
                    "kind": STEP,
                    "topic": request.topic,
                    "language": request.language,
                    "shown": ",".join(case.names.values()),
                    "decided": case.result,
                }
            ),
            role="juror",
        )
        reply = await steps.call(call)
        examples = example_texts(one.content for one in messages)
        why = read_why(reply.text, reply.finish, case, examples)
        return why.model_copy(update={"juror": juror.ref})
    except FAILURES as error:
        told = error.problem if isinstance(error, ModelError) else str(error)
        return unwritten(case, told)


def unwritten(case: ExplanationRequest, problem: str) -> Rationale | None:
    """Return what is told of a juror who did not answer; None if no ballot decided."""
    juror = writer(case)
    return None if juror is None else Rationale(juror=juror.ref, problem=problem)


def writer(case: ExplanationRequest) -> Model | None:
    """Return the cheapest juror whose ballot decided; of several, the nearest to the result."""
    jurors = {juror.ref: juror for juror in case.setup.panel.roster}
    left = [one for one in case.counted if one.juror in jurors]
    cheapest = case.setup.cheapest(jurors[one.juror] for one in left)
    lowest = cheapest and case.setup.rate(cheapest.ref)
    alike = [one for one in left if case.setup.rate(one.juror) == lowest]
    chosen = representative(case.verdict, alike)
    return jurors[chosen.juror] if chosen else None


def why_schema(names: tuple[str, ...]) -> AnswerSchema:
    """Return the shape of an answer on contenders of these names."""
    return named(
        "why",
        {
            "winner": choice(*names, TIE),
            "decisive": TEXT,
            "best": by_key(names, TEXT),
            "differed": TEXT,
        },
    )


def _ask(case: ExplanationRequest, prompts: Prompts) -> tuple[ChatMessage, ...]:
    request, names, hidden = case.debate.request, case.names, names_hidden(case.setup)
    variables: dict[str, Any] = {
        "topic": quote(identity.redact(request.topic, hidden)),
        "stances": [
            (names[side], quote(identity.redact(said, hidden)))
            for side, said in request.stances.items()
        ],
        "notes": [
            {
                "winner": names.get(one.verdict or "", TIE),
                "reasons": quote(told_reasons(case.setup, one, 2 * REASONS, marks=True)),
            }
            for one in case.counted
        ],
        "names": tuple(names.values()),
        "shown": tuple(map(marked, names.values())),
        "answers": "A" not in request.sides,
        "result": case.result,
        "language": language_name(request.language),
        "sentence": SENTENCE,
        "point": POINT,
    }
    return (
        ChatMessage(role="system", content=prompts.render("jury/explainer", **variables)),
        ChatMessage(role="user", content=prompts.render(TEMPLATE, **variables)),
    )


def read_why(
    text: str, finish: str, case: ExplanationRequest, examples: frozenset[str] = frozenset()
) -> Rationale:
    """Read an answer. Raises UnreadableError for one that cannot be shown, and says why not."""
    answer, names = read_object(text, finish).value, case.names
    if unmarked(str(answer.get("winner"))).casefold() != case.result.casefold():
        raise UnreadableError("it names another winner than the jury")
    best = answer.get("best")
    best = {unmarked(name): said for name, said in best.items()} if isinstance(best, dict) else {}
    told = Rationale(
        text=_read_text(answer, "decisive", SENTENCE),
        best={side: _read_text(best, name, POINT) for side, name in names.items()},
        differed=_read_text(answer, "differed", POINT, empty=True),
    )
    hidden = names_hidden(case.setup)
    for said in filter(None, (told.text, *told.best.values(), told.differed)):
        if is_filler(said, examples):
            raise UnreadableError("it repeats the example of its prompt")
        if identity.redact(said, hidden) != said or identity.HIDDEN in said:
            raise UnreadableError("it names a model")
    return told


def _read_text(answer: Object, key: str, most: int, *, empty: bool = False) -> str:
    value = answer.get(key)
    text = " ".join(identity.clean(clean(value)).split()) if isinstance(value, str) else ""
    if not is_visible(text):
        if empty and value in (None, ""):
            return ""
        raise UnreadableError(f"“{key}” is not a text")
    if len(text) > LENIENCE * most:
        raise UnreadableError(f"“{key}” has {len(text)} characters; at most {most} were asked for")
    return text


def to_artifact(why: Rationale) -> Artifact:
    """Return what is kept of an answer, or of its problem."""
    return Artifact.of(STEP, STEP, why.model_dump(mode="json"), valid=not why.problem)


def of_artifacts(found: Sequence[Artifact]) -> Rationale | None:
    """Return the answer that was kept, if it can be shown."""
    told = [Rationale.model_validate(one.body) for one in found]
    return next((why for why in told if why.text), None)


# Why a panel decided as it did, taken from what its jurors wrote; pure.


REASONS, QUOTED = 600, 300  # characters of a juror's reasons, and of those that a reveal quotes


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


def quote_juror(setup: Setup, verdict: Verdict, ballots: Iterable[Ballot]) -> Rationale | None:
    """Return the most representative juror's own words; None where no one wrote any."""
    ballot = representative(verdict, ballots)
    text = told_reasons(setup, ballot, QUOTED, marks=True) if ballot else ""
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
