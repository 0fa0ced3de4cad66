"""From an order to a frozen setup: defaults, draws, panel, prices.

After this step nothing that could change (settings, templates, prices, history) is read again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from random import Random

from pydantic import Field, SkipValidation

from engine.blinding.identity import draw_names, kin
from engine.formats import FORMATS, Format, find_format
from engine.formats.format import Roles, read_own
from engine.jury.roster import PanelFit, seat_panel
from engine.jury.rubric import Rubric, find_rubric
from engine.prompts.library import AUDIENCE, SOURCES, Prompts, check_language
from engine.store import Caps
from engine.store.leases import OWN
from engine.values.debate import (
    SOMEBODY,
    UNATTENDED,
    BallotKind,
    Debate,
    Length,
    Model,
    PanelMode,
    Price,
    Request,
    Retrieval,
    Sampling,
    SeriesKey,
    Setup,
    Value,
)
from engine.values.errors import BudgetError, FlaggedError, NotAllowedError, UsageError
from engine.values.language import N_, Text
from engine.values.options import BUILT_IN, STANCES, Options, check_limits
from engine.values.sources import SourceFile, SourceLimits, read_sources
from engine.values.text import clean, is_visible, marked
from engine.values.topics import (
    LONGEST_STANCE,
    RANDOM,
    Topic,
    built_in_topics,
    find_topic,
    fold_topic,
    has_blocked,
)

LONGEST_TEXT = 20_000  # characters
MOST_JUDGES = 9  # of a format's own
ME = "me"  # in place of a model: whoever starts the debate argues that side
ONLY_ONE = N_("Only one side can be a person. Choose a model for the other one.")
TURN_MINUTES = 10.0  # for a turn of a person
NOT_ALLOWED = N_(
    "This bot serves only the servers and workspaces that its operator has chosen, and this is "
    "none of them; ask the operator to add it."
)
MOST_GUESSED = 25  # models on a menu, as Discord's have no more


class PlaceCapabilities(Value):
    """What Rostrum may do in the place of a command; each Text says what to grant.

    `unfit`: why no debate can run there; `no_files`: why none that posts files can; `no_removal`:
    why ballots cannot be secret. Empty: no obstacle is known.
    """

    unfit: SkipValidation[str] = ""
    no_files: SkipValidation[str] = ""
    no_removal: SkipValidation[str] = ""


class Invited(Value):
    """A person who is to argue a side: a user of the platform."""

    side: str
    user: str


class Rematch(Value):
    """A revealed debate to hold once more; `swapped`: each model takes the other side."""

    of: Debate
    swapped: bool = False


class Order(Options):
    """A person's request and its place; omitted values are defaults, or drawn at random.

    `ground` is what the platform allows in `place`. `models` are keyed by contender or seat
    (`A1`); `judges` are the format's own; `sources` are files that every side reads. `series` says
    which debate of a series it is. A `rematch` has its options, models and sources from the debate
    before. `guest` argues a side in place of a model.
    """

    platform: str
    community: str
    place: str
    ground: PlaceCapabilities = PlaceCapabilities()
    user: str | None = None
    models: Mapping[str, Model] = {}
    jurors: tuple[Model, ...] = ()
    judges: tuple[Model, ...] = ()
    sources: tuple[SourceFile, ...] = ()
    seed: int | None = None
    series: SeriesKey | None = None
    rematch: Rematch | None = None
    guest: Invited | None = None


class Defaults(Options):
    """An installation's or a community's defaults for debates.

    `models` can debate and `jurors` judge; `sides` are fixed instead of drawn. `own_judges` judge
    where a format has judges of its own (none: a juror does), and `seats` are models of single
    seats. Without a `rubric` jurors score by the format's own. `topics` are those to offer and to
    draw from; those with a word of `blocked_words` are refused, and with `topic_approval` managers
    approve the ones that people suggest. Votes are gold only from accounts that are `account_days`
    old and members of `member_days`. `value_per_usd` is how many points of a panel's accuracy a USD
    is worth. Pages are served at `web_url`, if they are. `allowed` are the communities of a
    platform that are served; of one that it does not name, all are.
    """

    models: tuple[Model, ...]
    jurors: tuple[Model, ...]
    own_judges: tuple[Model, ...] = ()
    seats: Mapping[str, Model] = {}
    topics: tuple[Topic, ...] = Field(default_factory=built_in_topics)
    sides: Mapping[str, Model] = {}
    sampling: Mapping[str, Sampling]
    limits: Mapping[str, Mapping[str, float]]
    chars_per_word: float = 1.5
    reply_chars: int | None = None
    rubric: Rubric | None = None
    value_per_usd: float = 0.0
    sources: SourceLimits = SourceLimits()
    retrieval: Retrieval | None = None
    caps: Caps = Caps()
    blocked_words: tuple[str, ...] = ()
    topic_approval: bool = True
    account_days: int = 0
    member_days: int = 0
    web_url: str = ""
    allowed: Mapping[str, frozenset[str]] = {}

    @property
    def debaters(self) -> tuple[Model, ...]:
        """Models that can be requested as debaters."""
        return (*self.models, *self.sides.values())

    @property
    def judges(self) -> tuple[Model, ...]:
        """Models that can be requested as jurors or judges."""
        return (*self.jurors, *self.models)


def complete(order: Order, defaults: Defaults, seed: int) -> tuple[Request, Format]:
    """Complete an order with defaults and draws. Raises UsageError if it is impossible."""
    fit = [one for one in defaults.topics if not has_blocked(defaults.blocked_words, one.text)]
    options = _offered_topic(BUILT_IN | defaults | order, fit, seed)
    check_limits(options)
    script = find_format(options.format or "")
    length = options.length or Length.NORMAL
    sized = script.sized(length)
    given = {**sized.options, **options.options}
    own = read_own(script.name, script.options, given).model_dump(mode="json")
    if options.rounds is not None and not script.takes_rounds:
        raise UsageError(
            "The format {name} has a fixed number of rounds: leave rounds out. Its own "
            "options: {own}.",
            name=script.name,
            own=tuple(own) or Text("none"),
        )
    if script.question and order.stance:
        raise UsageError(
            "A {name} debate answers a question, so no one takes a side on it: leave stance out.",
            name=script.name,
        )
    roles = script.roles(own)
    asked = _with_guest(order, script, roles)
    sides, drawn = _seat_contenders(roles, asked, defaults, seed)
    models = {**_seats_beside(order, defaults), **asked}
    seats = {seat: model for seat, model in models.items() if seat in roles.seats}
    attended = order.platform != UNATTENDED
    settled = {
        "topic": check_topic(options.topic or ""),
        "conditions": _clean("conditions", options.conditions or ""),
        **_check_stances(options, roles, defaults),
        "language": check_language(options.language or ""),
        "sides": sides,
        "drawn": drawn,
        "seats": seats,
        "judges": seat_judges(roles, order, defaults, (*sides.values(), *seats.values())),
        "options": own,
        "sources": read_sources(order.sources, defaults.sources),
        "rounds": options.rounds or sized.rounds or script.default_rounds,
        "turn_order": script.turn_order or options.turn_order,
        "stance": script.stance or (options.stance and not script.question),
        "questions": _check_questions(order, options, script),
        "why": options.why and attended,  # else no one reads the reveal
        "reasons": options.reasons and attended,
        "guess": options.guess and attended,
        "turn_minutes": (options.turn_minutes or TURN_MINUTES) if order.guest else 0.0,
    }
    request = Request(**options.model_dump(exclude={"mirror", "panel"}) | settled)
    check_words(defaults.blocked_words, *texts_of(request))
    check_ground(order.ground, request.ballot, script)
    return request, script


def _with_guest(order: Order, script: Format, roles: Roles) -> dict[str, Model]:
    """Return the models asked for, and what stands for a person. Raises UsageError."""
    if order.guest is None:
        return dict(order.models)
    if not script.takes_person:
        known = ", ".join(name for name in FORMATS if find_format(name).takes_person)
        raise UsageError(
            "In the format {name} only models can argue; choose one of {known} for a person.",
            name=script.name,
            known=known,
        )
    if order.mirror:
        raise UsageError(
            "A mirror swaps the models of both sides, and a person can argue only one debate at a "
            "time; leave mirror out."
        )
    if order.platform == UNATTENDED or order.series is not None:
        raise UsageError("Only a single debate that people watch can have a person as a side.")
    side = order.guest.side
    own = [seat for seat in order.models if seat != side and seat[0] == side]
    if own or side not in roles.contenders:
        raise UsageError(
            "A person argues for a whole side, 🔵 A or 🔴 B; name no models for its speakers."
        )
    return {**order.models, side: SOMEBODY}


def _seats_beside(order: Order, defaults: Defaults) -> dict[str, Model]:
    """Return the default models of single seats, but those of a person's side."""
    side = order.guest.side if order.guest else ""
    return {seat: model for seat, model in defaults.seats.items() if not side or seat[0] != side}


def _check_questions(order: Order, options: Options, script: Format) -> float:
    """Return for how long the audience may ask; a default counts only where anyone can."""
    if order.questions and not script.takes_questions:
        known = ", ".join(name for name in FORMATS if find_format(name).takes_questions)
        raise UsageError(
            "In the format {name} the audience cannot ask questions; leave questions out, or "
            "choose one of {known}.",
            name=script.name,
            known=known,
        )
    there = script.takes_questions and order.platform != UNATTENDED
    return (options.questions or 0) if there else 0


def _offered_topic(options: Options, topics: Sequence[Topic], seed: int) -> Options:
    """Return the options with a topic drawn if they ask for one, and a listed topic's stances."""
    topic = find_topic(topics, options.topic or "")
    if (options.topic or "").strip().casefold() == RANDOM:
        language = check_language(options.language or "")
        fit = [topic for topic in topics if topic.speaks(language)]
        if not fit:
            raise UsageError(
                "The list has no topic in the language {language}; give a topic, or choose "
                "another language.",
                language=language,
            )
        topic = Random(f"topic/{seed}").choice(fit)
        options = options.model_copy(update={"topic": topic.text})
    script = find_format(options.format or "")
    own = any(getattr(options, name) for name in STANCES.values())
    if topic is None or own or script.contenders != ("A", "B"):
        return options
    stances = {"stance_a": topic.stance_a, "stance_b": topic.stance_b}
    return options.model_copy(update=stances)


def check_topic(given: str) -> str:
    """Return a topic as it is stored. Raises UsageError for one that cannot be debated."""
    topic = _clean("topic", given)
    if not topic:
        raise UsageError(
            "A debate needs a topic; give one, for example “Remote work is better”, or write "
            "random for one of the list."
        )
    if not is_visible(topic):
        raise UsageError(
            "All characters of this topic are invisible. Write one, for example "
            "“Remote work is better”."
        )
    return topic


def texts_of(request: Request) -> tuple[str, ...]:
    """Return what a person wrote of a debate: topic, conditions and stances."""
    return (request.topic, request.conditions, *request.stances.values())


def check_words(blocked: Collection[str], *texts: str) -> None:
    """Refuse texts with a word that is blocked. Raises FlaggedError, which does not name it."""
    if has_blocked(blocked, *texts):
        raise FlaggedError(
            "This has a word that is blocked here. Reword it, or ask a manager of this community."
        )


def _check_stances(options: Options, roles: Roles, defaults: Defaults) -> dict[str, str]:
    """Return what both sides argue in the asker's own words, or nothing for either."""
    given = {
        name: " ".join(clean(getattr(options, name) or "").split()) for name in STANCES.values()
    }
    if not any(given.values()):
        return given
    if roles.contenders != ("A", "B"):
        raise UsageError(
            "Only a debate between two sides takes stances for and against; leave both out."
        )
    missing = [side for side, text in zip("AB", given.values(), strict=True) if not text]
    if missing:
        raise UsageError(
            "The stance of side {missing} is missing: say what both sides argue, for "
            "example “tabs” for 🔵 A and “spaces” for 🔴 B, or leave both out.",
            missing=marked(missing[0]),
        )
    models = {model.ref.casefold() for model in (*defaults.debaters, *defaults.judges)}
    for side, text in zip("AB", given.values(), strict=True):
        _check_stance(side, text, models)
    if len({fold_topic(text) for text in given.values()}) < len(given):
        raise UsageError("Both sides have the same stance; give each one of its own.")
    return given


def _check_stance(side: str, text: str, models: Collection[str]) -> None:
    if len(text) > LONGEST_STANCE:
        raise UsageError(
            "The stance of side {side} has {n} characters; at most {most} are allowed. "
            "Shorten it, and put the rest into the conditions.",
            side=marked(side),
            n=len(text),
            most=LONGEST_STANCE,
        )
    if not is_visible(text):
        raise UsageError(
            "All characters of side {side}'s stance are invisible; write a few.",
            side=marked(side),
        )
    if text.casefold() in models:
        raise UsageError(
            "The stance of side {side} is the name of a model; write what the side argues, "
            "and choose the model that argues it with {option}.",
            side=marked(side),
            option=side.lower(),
        )


def check_ground(ground: PlaceCapabilities, ballot: BallotKind, script: Format) -> None:
    """Refuse a debate that could not finish there. Raises NotAllowedError or UsageError."""
    if refusal := ground.unfit or (ground.no_files if script.files else ""):
        raise NotAllowedError(refusal)
    if ground.no_removal and ballot is BallotKind.SECRET:
        raise UsageError(ground.no_removal)


def templates_of(prompts: Prompts, request: Request, defaults: Defaults) -> Prompts:
    """Return the templates that a debate freezes: its format's, and those of what it has."""
    sourced = (SOURCES,) if request.sources or defaults.retrieval else ()
    asked = (AUDIENCE,) if request.questions else ()
    return prompts.only(request.format, "jury", *sourced, *asked)


def freeze(
    request: Request,
    script: Format,
    order: Order,
    defaults: Defaults,
    prompts: Prompts,
    *,
    seed: int,
    number: int,
    fit: PanelFit,
    costs: Mapping[str, float] | None = None,
) -> Setup:
    """Freeze everything that a debate depends on, except prices and reservation.

    `costs` is what it takes to ask each juror, see engine/run/estimate.py.
    """
    named = [model.name for model in request.sides.values() if not model.person]
    limits = script.limits_of(request.length, defaults.limits.get(script.name, {}))
    spoken_of = [request.topic, request.conditions, *request.stances.values(), *named]
    before = order.rematch.of.setup.panel.mode if order.rematch else None
    panel = seat_panel(
        jurors_of(order, defaults),
        request.speakers,
        ordinal=number,
        seed=seed,
        history=fit.history,
        correlation=fit.correlation,
        slope=fit.slope,
        fit=fit.model,
        prices=costs,
        mode=order.panel or before or defaults.panel or PanelMode.ADAPTIVE,
        rubric=defaults.rubric or find_rubric(script.rubric),
        blind=request.blind,
    )
    names = draw_names(tuple(request.sides), seed, spoken_of)
    return Setup(
        request=request,
        format_version=script.version,
        templates=prompts.digest,
        panel=panel,
        names=names,
        sampling=dict(defaults.sampling),
        limits=limits,
        seed=seed,
        ordinal=number,
        cap_usd=defaults.caps.debate_usd,
        chars_per_word=defaults.chars_per_word,
        reply_chars=_reply_chars(defaults, limits),
        called=script.call(request, prompts, names),
        retrieval=defaults.retrieval,
        # Who guesses at a rematch knows which models it has.
        menu=() if order.rematch else _menu(request, defaults),
        rematch_of=order.rematch and order.rematch.of.id,
        swapped=order.rematch is not None and order.rematch.swapped,
        account_days=defaults.account_days,
        member_days=defaults.member_days,
    )


def _menu(request: Request, defaults: Defaults) -> tuple[str, ...]:
    """Return the models to guess among: the same for every debate, and so no hint on this one."""
    if request.guest:  # who is a model is no secret
        return ()
    offered = tuple(dict.fromkeys(model.ref for model in defaults.debaters))[:MOST_GUESSED]
    return offered if request.guess and len(offered) > 1 else ()


def _reply_chars(defaults: Defaults, limits: Mapping[str, float]) -> int | None:
    """Return how many characters of a reply are read: at least thirty per word of the limit.

    Words have five or six letters in most languages, so no turn within its limits is cut.
    """
    if defaults.reply_chars is None:
        return None
    largest = max(limits.values(), default=0)
    return max(defaults.reply_chars, int(30 * largest))


def jurors_of(order: Order, defaults: Defaults) -> tuple[Model, ...]:
    """Return the jurors for an order. Raises UsageError if there are none."""
    roster = order.jurors
    if not roster and order.rematch is not None:
        # Those of the debate before that can still judge.
        panel = order.rematch.of.setup.panel
        asked = {model.ref for model in (*panel.roster, *panel.recused)}
        known = {model.ref: model for model in defaults.judges}
        roster = tuple(model for ref, model in known.items() if ref in asked)
    roster = roster or defaults.jurors
    if not roster:
        raise UsageError(
            "No jurors are configured; name some with the debate.", hint="Or set ROSTRUM_JURORS."
        )
    return roster


def check_prices(prices: Mapping[str, Price | None], caps: Caps) -> None:
    """Refuse a dollar cap that cannot be enforced. Raises BudgetError naming what to set."""
    unknown = sorted(ref for ref, price in prices.items() if price is None)
    if unknown and (caps.debate_usd is not None or caps.by_day):
        raise BudgetError(
            "The price of {unknown:and} is unknown, so the cap cannot be enforced. {advice}",
            unknown=tuple(unknown),
            advice=Text("Choose other models, or ask the operator to set their price."),
            hint=f"Set ROSTRUM_PRICES, for example '{{\"{unknown[0]}\": [0.3, 1.2]}}' in USD per "
            "million tokens in and out, or ROSTRUM_BUDGET__DEBATE_USD=off and "
            "ROSTRUM_BUDGET__COMMUNITY_DAILY_USD=off and "
            "ROSTRUM_BUDGET__INSTALLATION_DAILY_USD=off.",
        )


def check_allowed(defaults: Defaults, platform: str, community: str) -> None:
    """Refuse a community that the operator does not serve. Raises NotAllowedError.

    A person's direct messages are not one of theirs.
    """
    allowed = defaults.allowed.get(platform)
    if allowed is not None and community not in allowed and not community.startswith(OWN):
        raise NotAllowedError(NOT_ALLOWED)


def _seat_contenders(
    roles: Roles, asked: Mapping[str, Model], defaults: Defaults, seed: int
) -> tuple[dict[str, Model], tuple[str, ...]]:
    """Assign every contender a model: the requested one, the default, or a drawn one."""
    contenders = roles.contenders
    strange = sorted(set(asked) - {*contenders, *roles.seats})
    if strange:
        raise UsageError(
            "This format has no side {strange}; its sides are {contenders:and}.",
            strange=strange[0],
            contenders=tuple(contenders),
        )
    chosen = {**defaults.sides, **asked}
    drawn = tuple(side for side in contenders if side not in chosen)
    taken = {chosen[side].ref for side in contenders if side in chosen}
    offered = [model for model in defaults.models if model.ref not in taken]
    offered = offered if len(offered) >= len(drawn) else list(defaults.models) * len(contenders)
    if drawn and not offered:
        raise UsageError(
            "No models are configured; name one for each side.", hint="Or set ROSTRUM_MODELS."
        )
    picked = Random(f"sides/{seed}").sample(offered, len(drawn))
    if roles.one_model and drawn:
        alike = next((chosen[side] for side in contenders if side in chosen), picked[0])
        picked = [alike] * len(drawn)
    sides = {**chosen, **dict(zip(drawn, picked, strict=True))}
    return {side: sides[side] for side in contenders}, drawn


def seat_judges(
    roles: Roles, order: Order, defaults: Defaults, speakers: Sequence[Model]
) -> tuple[Model, ...]:
    """Assign a format's own judges: the requested ones, else jurors of other families first."""
    if not roles.judges:
        if order.judges:
            raise UsageError(
                "This format, with these options, has no judges of its own; leave "
                "judges out. To choose the jury, use jurors."
            )
        return ()
    own = {kin(model.family) for model in speakers}
    roster = jurors_of(order, defaults)
    free = [juror for juror in roster if kin(juror.family) not in own] or list(roster)
    most = roles.judges if roles.fixed else MOST_JUDGES
    if len(order.judges) > most:
        raise UsageError(_too_many(most, fixed=roles.fixed), most=most, n=len(order.judges))
    named = order.judges or defaults.own_judges
    asked = named or tuple(free)
    wanted = len(named) if named and not roles.fixed else roles.judges
    return tuple(asked[at % len(asked)] for at in range(wanted))


def _too_many(most: int, *, fixed: bool) -> str:
    if not fixed:
        return Text(
            "This format, with these options, has at most {most} judges of its own, and you named "
            "{n}. Leave out the rest. To choose the jury, use jurors."
        )
    if most == 1:
        return Text(
            "This format, with these options, has 1 judge of its own, and you named {n}. Leave out "
            "the rest. To choose the jury, use jurors."
        )
    return Text(
        "This format, with these options, has {most} judges of its own, and you named {n}. Leave "
        "out the rest. To choose the jury, use jurors."
    )


def _clean(name: str, given: str) -> str:
    text = clean(given).strip()
    if len(text) > LONGEST_TEXT:
        raise UsageError(
            N_(
                "The topic of a debate may have at most {most} characters; this one has {n}. "
                "Shorten it."
            )
            if name == "topic"
            else N_(
                "The conditions of a debate may have at most {most} characters; these have {n}. "
                "Shorten them."
            ),
            most=LONGEST_TEXT,
            n=len(text),
        )
    return text
