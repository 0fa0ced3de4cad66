"""From an order to a plan: defaults, draws, seats. Nothing is asked or stored here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from engine.formats import FORMATS, Format, find_format
from engine.formats.format import Roles
from engine.prompts.library import AUDIENCE, SOURCES, TRIAL, Prompts
from engine.run.order import Defaults, Order
from engine.run.seats import exchange, seat
from engine.values.debate import OTHER, UNATTENDED, BallotKind, Length, Model, Moderation, Request
from engine.values.errors import NotAllowedError, UsageError
from engine.values.language import Text
from engine.values.options import BUILT_IN, Options
from engine.values.topics import Topic, check_words, motion_of


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be held: an order that is complete, with what it needs; no number yet.

    `prompts` are the templates that the debate freezes; `roster` are its jurors, in order of
    preference. `answer` is the row of the right one, where it is known.
    """

    order: Order
    offer: Defaults
    request: Request
    script: Format
    prompts: Prompts
    seed: int
    roster: tuple[Model, ...]
    moderation: Moderation | None = None
    mirror_of: str | None = None
    answer: Mapping[str, str | None] = field(default_factory=dict, repr=False)


def plan(order: Order, offer: Defaults, prompts: Prompts, seed: int) -> Plan:
    """Complete an order with defaults and draws, by its own seed or else this one.

    Raises UsageError if it is impossible, and NotAllowedError where it could not finish.
    """
    seed = seed if order.seed is None else order.seed
    options = (BUILT_IN if order.rematch else offer.usual) | order
    script = find_format(options.format or "", options.protocol)
    own = script.complete(options)
    if order.rematch is None:
        _check_asked(script, order, options)
    roster = order.jurors or offer.jurors
    if not roster:
        raise UsageError(
            "No jurors are configured; name some with the debate.", hint="Or set ROSTRUM_JURORS."
        )
    request, topic = _complete(order, offer, options, script, own, roster, seed)
    answer: Mapping[str, str | None] = {}
    if not order.rematch and (request.protocol or (topic and topic.answer)):
        from engine.run.trial import put_on_trial  # few answers are known

        request, answer = put_on_trial(request, topic, offer.sources, seed)
    check_words(offer.blocked_words, *request.texts)
    may = order.capabilities
    if refusal := may.unfit or (may.no_files if script.files else ""):
        raise NotAllowedError(refusal)
    if may.no_removal and request.ballot is BallotKind.SECRET:
        raise UsageError(may.no_removal)
    sourced = (SOURCES,) if request.sources or offer.retrieval else ()
    asked = (AUDIENCE,) if request.questions else ()
    tried = (TRIAL,) if request.protocol else ()
    frozen = prompts.only(request.format, "jury", *sourced, *asked, *tried)
    return Plan(order, offer, request, script, frozen, seed, roster, answer=answer)


def _check_asked(script: Format, asked: Options, options: Options) -> None:
    """Refuse what the format does not have; `options` are what was asked with the defaults.

    Raises UsageError.
    """
    if options.rounds is not None and not script.takes_rounds:
        raise UsageError(
            "The format {name} has a fixed number of rounds: leave rounds out. Its own "
            "options: {own}.",
            name=script.name,
            own=tuple(script.options.model_fields) or Text("none"),
        )
    if script.question and asked.stance:
        raise UsageError(
            "A {name} debate answers a question, so no one takes a side on it: leave stance out.",
            name=script.name,
        )
    if asked.questions and not script.takes_questions:
        raise UsageError(
            "In the format {name} the audience cannot ask questions; leave questions out, or "
            "choose one of {known}.",
            name=script.name,
            known=", ".join(name for name in FORMATS if FORMATS[name].takes_questions),
        )


def _complete(
    order: Order,
    offer: Defaults,
    options: Options,
    script: Format,
    own: Mapping[str, JsonValue],
    roster: Sequence[Model],
    seed: int,
) -> tuple[Request, Topic | None]:
    """Return an order's complete request, and its topic if that is listed. Raises UsageError."""
    roles = script.roles(own)
    # A rematch has the motion of the debate before, whatever the list says of it today.
    listed = offer.unblocked if order.listed is None else (order.listed,)
    names = (model.ref for model in (*offer.debaters, *offer.judges))
    motion, topic = motion_of(
        options,
        () if order.rematch else listed,
        names,
        seed,
        sided=roles.contenders == tuple(OTHER),
    )
    seated = seat(order, offer, script, roles, roster, seed)
    attended = order.platform != UNATTENDED
    person = any(model.person for model in seated["sides"].values())
    minutes = options.turn_minutes or BUILT_IN.turn_minutes
    sized = script.sized(options.length or Length.NORMAL)
    return Request(
        **options.model_dump(exclude={"mirror", "panel"})
        | motion
        | seated
        | {
            "options": own,
            "sources": order.sources,
            "rounds": options.rounds or sized.rounds or script.default_rounds,
            "turn_order": script.turn_order or options.turn_order,
            "stance": script.stance or (options.stance and not script.question),
            # A default counts only where anyone can ask.
            "questions": (options.questions or 0) * (script.takes_questions and attended),
            "why": options.why and attended,  # else no one reads the reveal
            "reasons": options.reasons and attended,
            "guess": options.guess and attended,
            "turn_minutes": minutes if person else 0.0,
        }
    ), topic


# A debate and its mirror: the same debate with sides swapped, to cancel position effects.
#
# A jury cannot undo the advantage of speaking last; a pair in which each model has had both sides
# can. engine/store/votes.py decides when their votes end.


def mirror(plan: Plan) -> Plan:
    """Return the plan with its sides swapped. Raises UsageError if that adds no information."""
    request = plan.request
    check_mirrored(plan.script.name, plan.script.roles(request.options), request)
    return replace(plan, request=exchange(request))


def check_mirrored(name: str, roles: Roles, request: Request) -> None:
    """Refuse a mirror that would add no information. Raises UsageError with the reason."""
    if roles.contenders != tuple(OTHER):
        raise UsageError(
            "A mirror swaps two sides, but a {name} debate has {n}; leave mirror out, or "
            "choose another format.",
            name=name,
            n=len(roles.contenders),
        )
    if exchange(request).model_copy(update={"drawn": request.drawn}) == request:
        raise UsageError(
            "The same model argues both sides, so the mirror would be the same debate; "
            "leave mirror out, or name two models."
        )
