"""Judges a debate that has ended once more, beside the first time.

Other judges of its format score it, or another jury reads it. The format's script runs again over
the journal: what was said is read there, and only judges or jurors are asked. Nothing of the first
judging changes, and nothing is posted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engine.fleet.leases import LeaseManager
from engine.formats import format_of
from engine.jury.panel import hold_panel, open_transcript
from engine.jury.roster import seat_panel
from engine.jury.rubric import find_rubric
from engine.prompts import Prompts
from engine.run.estimate import check_prices
from engine.run.request import MOST_JUDGES
from engine.stage import Stage
from engine.stage.steps import Pace, Steps
from engine.store import Journaled, Judging, Note, Post, Store
from engine.store.journal import PANEL
from engine.values.debate import Debate, Model, PanelMode, PanelSetup, Price, Setup, Status, Turn
from engine.values.errors import ModelError, NotFoundError, UsageError
from engine.values.limits import Caps
from engine.values.ports import Call, Reply
from engine.values.sources import named

if TYPE_CHECKING:
    from engine.values.protocols import Models

JUDGE = "judge"  # the kind of a hint by which a format asks its judges


@dataclass(slots=True)
class _SecondHost:
    """A host on which a script runs again: turns come from the journal, judges are asked.

    Without a `prefix` for their steps, judges are not asked either.
    """

    steps: Steps
    journaled: Journaled
    prefix: str | None = None
    notes: list[Note] = field(default_factory=list)

    async def room(self) -> None:
        """Never wait: nothing is posted."""

    async def call(self, call: Call) -> Reply:
        """Return what was said at a step, or what a judge says now.

        Raises NotFoundError for a speech that the journal does not have.
        """
        if self.prefix is not None and call.hint.get("kind") == JUDGE:
            call = replace(call, step=f"{self.prefix}{call.step}")
        elif call.step not in self.journaled.steps:
            raise NotFoundError(
                f"The record of this debate lacks {call.step}, so it cannot be judged."
            )
        return await self.steps.call(call)

    async def publish(self, turn: Turn, compose: Callable[[], Post]) -> None:
        """Post nothing: the turn is already there."""

    async def hear_questions(self) -> Sequence[str]:
        """Return what the audience asked when the debate was held."""
        return self.journaled.asked or ()

    async def hear_person(self, step: str, words: int) -> tuple[str, str]:
        """Return nothing: no format with judges of its own takes a person."""
        return "", ""

    async def keep(self, note: Note) -> None:
        """Keep what the judges find, until all of it is there."""
        self.notes.append(note)

    def found(self) -> Note:
        """Return everything that was found."""
        return Note(
            artifacts=tuple(one for note in self.notes for one in note.artifacts),
            scores=tuple(one for note in self.notes for one in note.scores),
            adjustments=tuple(one for note in self.notes for one in note.adjustments),
            verdicts={name: v for note in self.notes for name, v in note.verdicts.items()},
        )


async def judge_again(
    debate: Debate,
    judges: Sequence[Model],
    caps: Caps,
    store: Store,
    models: Models,
    lease_manager: LeaseManager,
) -> Judging:
    """Have judges score a debate; the same judges are asked once, and go on where they stopped.

    Raises UsageError for a debate that cannot be judged so, and BudgetError at the cap.
    """
    _check_closed(debate)
    script = format_of(debate.setup)
    roles = script.roles(debate.request.options)
    if not roles.judges and JUDGE + "s" not in script.options.model_fields:
        raise UsageError(f"The format {script.name} has no judge of its own.")
    if not 0 < len(judges) <= MOST_JUDGES:
        raise UsageError(f"Name from 1 to {MOST_JUDGES} judges, for example --judges online/x.")
    return await _judge(debate, judges, None, caps, store, models, lease_manager)


@dataclass(slots=True)
class LaterJurors:
    """Asks the jurors of a later panel; `passing` is a failure that a later try may not have."""

    steps: Steps
    prefix: str
    passing: ModelError | None = None

    async def call(self, call: Call) -> Reply:
        """Return a juror's reply. Raises what `Steps.call` raises."""
        try:
            return await self.steps.call(replace(call, step=f"{self.prefix}{call.step}"))
        except ModelError as error:
            self.passing = error if error.passing else self.passing
            raise


async def read_again(
    debate: Debate,
    jurors: Sequence[Model],
    mode: PanelMode,
    caps: Caps,
    store: Store,
    models: Models,
    lease_manager: LeaseManager,
) -> Judging:
    """Have another jury read a debate; the same jury is asked once, and goes on where it stopped.

    Raises UsageError for a debate that has not closed, BudgetError at the cap, and ModelError for
    a juror that cannot be reached now: nothing is concluded without its ballot.
    """
    _check_closed(debate)
    if not jurors:
        raise UsageError("Name at least one juror, for example --jurors online/x.")
    return await _judge(debate, jurors, mode, caps, store, models, lease_manager)


async def _judge(
    debate: Debate,
    judges: Sequence[Model],
    mode: PanelMode | None,
    caps: Caps,
    store: Store,
    models: Models,
    lease_manager: LeaseManager,
) -> Judging:
    """Ask judges, or jurors in a `mode`, and store what they find; once for the same ones."""
    async with lease_manager.hold(f"debate/{debate.id}", patient=mode is not None) as lease:
        judging = await store.learning.open_judging(lease, debate.id, judges, mode)
        if judging.found is not None:
            return judging
        journaled = await store.journal.load(debate.id)
        prices = {judge.ref: await models.price(judge) for judge in judging.judges}
        check_prices(prices, caps)
        setup = _setup(debate, judging, prices, caps, journaled.spent)
        debate = debate.model_copy(update={"setup": setup})
        steps = Steps(debate, lease, journaled, store, models, lease_manager, Pace())
        prompts = Prompts(await store.debates.templates(setup.templates))
        ask = _ask_judges if mode is None else _ask_jurors
        try:
            found = await ask(debate, judging, journaled, steps, prompts)
        finally:
            await steps.flush()
        await store.learning.close_judging(lease, debate.id, judging.number, found)
        return judging.model_copy(update={"found": found})


async def _ask_judges(
    debate: Debate, judging: Judging, journaled: Journaled, steps: Steps, prompts: Prompts
) -> Note:
    host = _SecondHost(steps, journaled, judging.prefix)
    # A captain that could not be asked is not asked now; a judge that could not, is.
    silent = {step: why for step, why in journaled.unanswered.items() if not step.startswith(JUDGE)}
    script = format_of(debate.setup)
    await script.hold(Stage(debate.setup, prompts, host, script.length(debate.request), silent))
    return host.found()


async def _ask_jurors(
    debate: Debate, judging: Judging, journaled: Journaled, steps: Steps, prompts: Prompts
) -> Note:
    host, setup = _SecondHost(steps, journaled), debate.setup
    script = format_of(setup)
    stage = Stage(setup, prompts, host, script.length(debate.request), journaled.unanswered)
    await script.hold(stage)
    writer, asked = open_transcript(debate), LaterJurors(steps, judging.prefix)
    writer.sources = named(stage.sources)
    judged = script.judged(tuple(stage.turns))
    verdict, ballots = await hold_panel(debate, judged, prompts, asked, writer)
    if asked.passing is not None:
        raise asked.passing
    of_panel = {"panel": judging.number}
    cast = tuple(ballot.model_copy(update=of_panel) for ballot in ballots.values())
    return Note(verdicts={PANEL: verdict}, ballots=cast)


def later_panel(debate: Debate, judging: Judging) -> PanelSetup:
    """Return another panel, seated by the debate's own rules; no past ballots weigh its jurors."""
    held = debate.setup.panel
    return seat_panel(
        judging.judges,
        debate.request.speakers,
        ordinal=debate.setup.ordinal,
        seed=debate.setup.seed,
        mode=judging.mode or PanelMode.ALL,
        rubric=find_rubric(held.rubric, held.criteria),
        blind=held.blind,
    )


def _check_closed(debate: Debate) -> None:
    if debate.status is not Status.CLOSED:
        raise UsageError(
            f"Debate {debate.code} is {debate.status}; judge it again once its vote has closed."
        )
    if debate.pruned_at is not None:
        raise UsageError(
            f"The prompts and replies of debate {debate.code} were deleted on "
            f"{debate.pruned_at:%Y-%m-%d}, as ROSTRUM_RETENTION__PROMPTS_DAYS says; it cannot be "
            "judged again."
        )


def _setup(
    debate: Debate, judging: Judging, prices: dict[str, Price | None], caps: Caps, spent: float
) -> Setup:
    """Return the debate's setup with other judges or jurors, with a whole debate's cap for them."""
    setup = debate.setup
    changed: dict[str, object] = {
        "prices": setup.prices | prices,
        "cap_usd": None if caps.debate_usd is None else spent + caps.debate_usd,
    }
    if judging.mode is None:
        changed["request"] = setup.request.model_copy(update={"judges": judging.judges})
    else:
        changed["panel"] = later_panel(debate, judging)
    return setup.model_copy(update=changed)
