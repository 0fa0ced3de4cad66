"""`rostrum debate`: one debate in the terminal on configured backends."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from rich.console import Console

from adapters.terminal.votes import parse_stances, parse_votes
from bot import log, texts
from bot.settings.settings import Settings, load_settings
from bot.terminal import COMMUNITY, PLATFORM, Session
from engine.debate import Model, Replacement, Scores, TurnOrder, Value
from engine.errors import UsageError
from engine.formats import find_format
from engine.formats.format import read_options
from engine.line.intake import Order
from engine.line.service import Started
from engine.votes.questions import vote_options

Choice = TypeVar("Choice", TurnOrder, Scores)


# How a field is written on the command line, where that is not its name.
SPELLED = {"topic": "The topic", "options": "--option", "seats": "--seat"}


class Asked(Value):
    """The command's options as typed; None where one was left out."""

    topic: str | None = None
    a: str | None = None
    b: str | None = None
    jurors: str | None = None
    conditions: str | None = None
    format: str | None = None
    language: str | None = None
    rounds: int | None = None
    turn_order: str | None = None
    blind: str | None = None
    scores: str | None = None
    vote_minutes: float | None = None
    quorum: int | None = None
    seed: int | None = None
    mirror: bool = False
    options: tuple[str, ...] = ()
    seats: tuple[str, ...] = ()
    judges: str | None = None

    def refuse_for_resume(self) -> None:
        """Refuse what a debate has from its start. Raises UsageError naming the first."""
        for name, field in Asked.model_fields.items():
            if getattr(self, name) != field.default:
                raise UsageError(
                    f"{SPELLED.get(name) or '--' + name.replace('_', '-')} cannot change when a "
                    "debate goes on: leave it out."
                )

    def order(self) -> Order:
        """Read the options. Raises UsageError naming the one that cannot be read."""
        sides = {"A": self.a, "B": self.b}
        return Order(
            platform=PLATFORM,
            community=COMMUNITY,
            place="",
            user="host",
            topic=self.topic,
            conditions=self.conditions,
            format=self.format,
            language=self.language,
            models={side: Model.parse(text) for side, text in sides.items() if text}
            | {seat: Model.parse(text) for seat, text in _pairs("--seat", self.seats).items()},
            jurors=_roster(self.jurors),
            judges=_roster(self.judges),
            options=_pairs("--option", self.options),
            rounds=self.rounds,
            turn_order=_choose("--turn-order", TurnOrder, self.turn_order),
            blind=_switch("--blind", self.blind),
            scores=_choose("--scores", Scores, self.scores),
            vote_minutes=self.vote_minutes,
            quorum=self.quorum,
            seed=self.seed,
            mirror=self.mirror,
        )


async def run_debate(
    asked: Asked,
    *,
    votes: str | None,
    stances: str | None = None,
    out: Path | None,
    resume: str | None,
    replaced: tuple[str, ...] = (),
    include_rehearsal: bool = False,
) -> None:
    """Hold or resume a debate, and export afterwards where that was asked for."""
    changes = read_changes(replaced)
    if resume is not None:
        asked.refuse_for_resume()
    elif changes:
        raise UsageError("--replace-model goes with --resume: name the debate that goes on.")
    order = asked.order()
    moves = None if stances is None else parse_stances(stances)
    if moves is not None and order.mirror:
        raise UsageError("--stances cannot be given for a debate and its mirror at once.")
    order = order.model_copy(update={"stance": moves is not None or None})
    settings = load_settings()
    if votes is not None:
        contenders = contenders_of(order, settings.default_format)
        parse_votes(votes, vote_options(contenders))
    log.configure(quiet(settings).log, settings.secrets())
    console = Console(highlight=False)

    def explain(started: Started) -> None:
        console.print(texts.warnings(started), markup=False, soft_wrap=True, end="")

    session = Session(settings, console, votes, moves, explain)
    await (session.resume(resume, changes) if resume else session.start(order))
    if out is not None:
        from bot.exporting import Chosen, export_into  # half of what it needs, no debate does

        counts = await export_into(
            settings, out, Chosen(include_rehearsal=include_rehearsal).wanted()
        )
        print(texts.EXPORTED.format(out=out, counts=counts))


def read_changes(given: tuple[str, ...]) -> tuple[Replacement, ...]:
    """Read `old=new` of each. Raises UsageError."""
    changes = []
    for item in given:
        was, equals, now = item.rpartition("=")  # options of rehearsal models have some
        if not equals:
            raise UsageError(f"--replace-model is “{item}”; write it as old=new.")
        changes.append(Replacement(was=Model.parse(was), now=Model.parse(now)))
    return tuple(changes)


def quiet(settings: Settings) -> Settings:
    """Log only errors beside a debate that is being read, unless a level was set.

    What a warning would say, the thread and the command's last line say already.
    """
    if "level" in settings.log.model_fields_set:
        return settings
    shown = settings.log.model_copy(update={"level": "error"})
    return settings.model_copy(update={"log": shown})


def contenders_of(order: Order, default_format: str) -> tuple[str, ...]:
    """Return who can be voted for in the debate that an order asks for. Raises UsageError."""
    script = find_format(order.format or default_format)
    options = read_options(script.name, script.options, order.options)
    return script.roles(options.model_dump()).contenders


def _pairs(option: str, given: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for item in given:
        name, equals, value = item.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"{option} is “{item}”; write it as name=value.")
        pairs[name.strip()] = value.strip()
    return pairs


def _roster(text: str | None) -> tuple[Model, ...]:
    names = [name for name in (text or "").split(",") if name.strip()]
    return tuple(Model.parse(name) for name in names)


def _choose(option: str, choices: type[Choice], text: str | None) -> Choice | None:
    if text is None:
        return None
    try:
        return choices(text.strip().lower())
    except ValueError:
        known = " or ".join(choice.value for choice in choices)
        raise UsageError(f"{option} is “{text}”; it has to be {known}.") from None


def _switch(option: str, text: str | None) -> bool | None:
    known = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}
    if text is None:
        return None
    if text.strip().lower() not in known:
        raise UsageError(f"{option} is “{text}”; it has to be on or off.")
    return known[text.strip().lower()]
