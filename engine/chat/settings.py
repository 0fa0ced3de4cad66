"""A community's settings within the operator's limits.

A community chooses among the operator's models and stays within the operator's caps, even when
these are tightened later.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from pydantic import JsonValue

from engine.chat.answers.management import NO_WEB, SettingLine, SettingsAnswer
from engine.chat.context import Context, Requester, settings_of
from engine.chat.invocation import (
    JUDGES,
    StartArguments,
    parse_list,
    suggest,
)
from engine.chat.participants import guest_among
from engine.dataset.license import read_license
from engine.formats import FORMATS, find_format
from engine.prompts import check_language
from engine.run.order import Defaults, Order
from engine.run.request import MOST_JUDGES
from engine.store.communities import SETTING_NAMES, CommunitySettings, PublicPart
from engine.values.debate import Model, Source
from engine.values.errors import NotAllowedError, UsageError
from engine.values.language import ENGLISH, N_
from engine.values.limits import Caps
from engine.values.options import (
    BUILT_IN,
    NONE,
    Options,
    parse_number,
    parse_switch,
    read_option,
)
from engine.values.ports import Permalinks
from engine.values.text import clean, headline, is_visible
from engine.words.translation import say

T = TypeVar("T")
MOST_CHANNELS = 100
MOST_STARTERS = 25
MOST_WORDS, LONGEST_WORD = 200, 60
LONGEST_REFERENCE = 128  # characters
_MENTION = re.compile(r"<(?:#|@&|!subteam\^)([^\s<>#@|]+)(?:\|[^<>]*)?>")  # of `#general`, `@jury`
_REFERENCE = re.compile(r"[^\s<>#@]+")  # the others are of a name or a mention, found nowhere
PUBLIC = "public"
RESET = frozenset({"", "default", "reset"})
_CAPS: Mapping[str, str] = {
    "debate_usd": "debate_usd",
    "daily_usd": "community_daily_usd",
    "user_daily_debates": "user_daily_debates",
    "max_live": "max_live_per_community",
}


async def show_settings(
    context: Context, person: Requester, changes: Mapping[str, str] | None = None
) -> SettingsAnswer:
    """Show the community's settings, after changing some."""
    if changes:
        applied = await context.store.communities.change(
            person.platform,
            person.community,
            lambda old: change_settings(old, changes, context.defaults),
            context.service.clock.now(),
        )
    else:
        applied = await settings_of(context.store, person)
    lines = setting_lines(applied, context.defaults)
    page = await page_of(context, person, applied)
    return SettingsAnswer(settings=lines, changed=tuple(changes or ()), page=page)


async def page_of(context: Context, person: Requester, settings: CommunitySettings) -> str:
    """Return where a person's community is on the web; empty if it shows nothing there."""
    if not settings.public or not context.defaults.web_url:
        return ""
    page = await context.store.communities.page(person.platform, person.community)
    return Permalinks(context.defaults.web_url).community(page)


async def usual_language(context: Context, platform: str, community: str) -> str:
    """Return the language of a community's debates, unless they name another."""
    settings = await context.store.communities.get(platform, community)
    return settings.language or (BUILT_IN | context.defaults).language or ENGLISH


# --- the operator's frame ----------------------------------------------------------------


def overlay(defaults: Defaults, settings: CommunitySettings) -> Defaults:
    """Return the operator's defaults with the community's settings applied; kept.

    Drops anything the operator no longer offers or allows. Raises UsageError when that empties a
    list that the community has set.
    """
    key = id(defaults), id(settings)
    if key not in _overlaid:
        if len(_overlaid) >= MOST_OVERLAID:
            _overlaid.clear()
        # Both are kept beside it, so that nothing else gets their ids.
        _overlaid[key] = defaults, settings, _overlay(defaults, settings)
    return _overlaid[key][2]


MOST_OVERLAID = 256  # each takes some kilobytes
_overlaid: dict[tuple[int, int], tuple[Defaults, CommunitySettings, Defaults]] = {}


def _overlay(defaults: Defaults, settings: CommunitySettings) -> Defaults:
    models = _still_offered("models", settings.models, defaults.models)
    offered = {model.ref for model in (models if settings.models else defaults.debaters)}

    def allowed(operators: Mapping[str, Model]) -> dict[str, Model]:
        kept = operators.items()
        return {at: one for at, one in kept if not settings.models or one.ref in offered}

    seats = {at: one for at, one in settings.seats.items() if one.ref in offered}
    return defaults.model_copy(
        update={
            "models": models,
            "jurors": _still_offered("jurors", settings.jurors, defaults.jurors, defaults.models),
            "sides": allowed(defaults.sides),
            "own_judges": _still_offered(
                "judges", settings.judges, defaults.judges, defaults.own_judges
            )
            if settings.judges
            else defaults.own_judges,
            "seats": allowed(defaults.seats) | seats,
            "caps": _lower_caps(defaults.caps, settings),
            "blocked_words": settings.blocked_words,
            "topic_approval": defaults.topic_approval
            if settings.topic_approval is None
            else settings.topic_approval,
            "account_days": settings.account_days or defaults.account_days,
            "member_days": settings.member_days or defaults.member_days,
            **settings.given(),
        }
    )


def choose_model(text: str, offered: Iterable[Model]) -> Model:
    """Return the offered model of that name. Raises UsageError with the closest match."""
    known = {model.ref.casefold(): model for model in offered}
    known |= {model.variant: model for model in known.values() if model.variant}
    wanted = text.strip().partition("#")[0].casefold()
    if wanted in known:
        return known[wanted]
    raise UsageError(
        "“{text}” is not a model offered here; {near}",
        text=headline(clean(text), 80),
        near=suggest(wanted, (model.ref for model in known.values()), listed_by="models"),
    )


def order_of(person: Requester, command: StartArguments, defaults: Defaults) -> Order:
    """Build an order from the command and the defaults. Raises UsageError."""
    guest = guest_among(command.sides, person.user)
    sides = {side.upper(): text for side, text in command.sides.items()}
    sources: tuple[Source, ...] = ()
    if command.sources:
        from engine.values.source_files import read_sources  # few debates have any

        sources = read_sources(command.sources, defaults.sources)
    options: dict[str, JsonValue] = dict(command.options)
    format = command.format or defaults.format or BUILT_IN.format
    if command.judges and JUDGES in find_format(format or "").options.model_fields:
        options.setdefault(JUDGES, len(command.judges))  # naming them also sets their number
    return Order(
        platform=person.platform,
        community=person.community,
        place=person.thread or person.place,
        capabilities=person.capabilities,
        user=person.user,
        models={
            side: choose_model(text, defaults.debaters)
            for side, text in sides.items()
            if guest is None or side != guest.side
        },
        guest=guest,
        jurors=tuple(choose_model(text, defaults.judges) for text in command.jurors),
        judges=tuple(choose_model(text, defaults.judges) for text in command.judges),
        sources=sources,
        **command.given() | {"options": options},
    )


def check_channel(settings: CommunitySettings, place: str) -> None:
    """Refuse a channel that is not on the list. Raises NotAllowedError."""
    if settings.channels and place not in settings.channels:
        raise NotAllowedError(
            "Debates are not allowed in this channel; use an allowed one, or ask a manager to add "
            "this one to the setting channels."
        )


def _still_offered(
    name: str, chosen: tuple[Model, ...], *offers: tuple[Model, ...]
) -> tuple[Model, ...]:
    offered = {model.ref for offer in offers for model in offer}
    kept = tuple(model for model in chosen if model.ref in offered)
    if chosen and not kept:
        raise UsageError(
            "None of the {name} set here is available any more; ask a manager to change "
            "the setting {name}.",
            name=name,
        )
    return kept or offers[0]


def _lower_caps(caps: Caps, settings: CommunitySettings) -> Caps:
    lowered = {}
    for name, cap in _CAPS.items():
        both = [
            value for value in (getattr(settings, name), getattr(caps, cap)) if value is not None
        ]
        lowered[cap] = min(both, default=None)
    return caps.model_copy(update=lowered)


def setting_lines(settings: CommunitySettings, defaults: Defaults) -> tuple[SettingLine, ...]:
    """Return the effective value of every setting: the community's, else the operator's."""
    lines = []
    for name in SETTING_NAMES:
        own = getattr(settings, name)
        is_own = own not in (None, (), {})
        value = own if is_own else _operators(name, defaults)
        idle = NO_WEB if name == PUBLIC and not defaults.web_url else ""
        lines.append(SettingLine(name=name, value=_write(value), own=is_own, idle=idle))
    return tuple(lines)


def _operators(name: str, defaults: Defaults) -> object:
    if name in _CAPS:
        return getattr(defaults.caps, _CAPS[name])
    if name == JUDGES:
        return defaults.own_judges
    held = BUILT_IN | defaults if name in Options.model_fields else defaults
    return getattr(held, name, None)


def _write(value: object) -> str:
    """Format a value in the form that the setting accepts."""
    match value:
        case None:
            return ""
        case tuple():
            return ", ".join(_write(item) for item in value)
        case Model():
            return value.ref
        case dict():
            return ", ".join(f"{seat}={model.ref}" for seat, model in value.items())
        case bool():
            return "on" if value else "off"
        case float():
            return f"{value:g}"
        case _:
            return str(value)


# --- changes -----------------------------------------------------------------------------


def change_settings(
    settings: CommunitySettings, changes: Mapping[str, str], defaults: Defaults
) -> CommunitySettings:
    """Apply changes to the settings; `default` or an empty value resets one.

    `defaults` are the operator's. Raises UsageError naming the setting and its valid values.
    """
    values: dict[str, object] = {}
    for name, text in changes.items():
        if name not in SETTING_NAMES:
            raise UsageError(
                "“{name}” is not a setting; {near}",
                name=headline(clean(name), 40),
                near=suggest(name, SETTING_NAMES, listed_by="settings"),
            )
        said = clean(text).strip()
        unset = said.casefold() in RESET
        if unset:
            values[name] = _UNSET[name]
        elif read := _READERS.get(name):
            values[name] = read(name, said, defaults)
        else:
            values[name] = read_option(name, said)
    return settings.model_copy(update=values)


def find_mistakes(changes: Mapping[str, str], defaults: Defaults) -> dict[str, str]:
    """Return the error for each invalid change, by setting; empty if all are valid."""
    mistakes = {}
    for name, text in changes.items():
        try:
            change_settings(CommunitySettings(), {name: text}, defaults)
        except UsageError as error:
            mistakes[name] = say(error.text)
    return mistakes


_UNSET = {name: field.default for name, field in CommunitySettings.model_fields.items()}


def _choose_all(names: Sequence[str], offered: Sequence[Model]) -> tuple[Model, ...]:
    chosen = [choose_model(name, offered) for name in names]
    return tuple({model.ref: model for model in chosen}.values())


def _at_most(most: int, refusal: str, name: str, chosen: tuple[T, ...]) -> tuple[T, ...]:
    if len(chosen) > most:
        raise UsageError(refusal, name=name, n=len(chosen), most=most)
    return chosen


def _seats(name: str, text: str, defaults: Defaults) -> dict[str, Model]:
    known = {seat for script in FORMATS.values() for seat in script.roles({}).seats}
    seats = {}
    for item in parse_list(name, text):
        seat, equals, model = (part.strip() for part in item.partition("="))
        if not equals:
            raise UsageError(
                "{name} has “{item}”; write speaker=model, as in A2=online/x.",
                name=name,
                item=headline(item, 40),
            )
        if seat.upper() not in known:
            raise UsageError(
                "There is no speaker “{seat}”; choose from {known}.",
                seat=headline(seat, 40),
                known=tuple(sorted(known)),
            )
        seats[seat.upper()] = choose_model(model, defaults.debaters)
    return seats


def _words(name: str, text: str, _: Defaults) -> tuple[str, ...]:
    refusal = N_("{name} lists {n} words; the limit is {most}.")
    words = _at_most(MOST_WORDS, refusal, name, parse_list(name, text))
    for word in words:
        if len(word) > LONGEST_WORD or not is_visible(word):
            raise UsageError(
                "{name} has “{word}”; write words of at most {most} characters, "
                "with commas between.",
                name=name,
                word=headline(word, 40),
                most=LONGEST_WORD,
            )
    return words


def _public(name: str, text: str, defaults: Defaults) -> tuple[PublicPart, ...]:
    parts = parse_public(name, text)
    if parts and not defaults.web_url:
        raise UsageError(
            "Rostrum serves no web pages here, so nothing can be public; ask the people who run it "
            "to set that up."
        )
    return parts


def parse_public(name: str, text: str) -> tuple[PublicPart, ...]:
    """Read what is to be public: parts, all or none. Raises UsageError."""
    said = [part.casefold() for part in parse_list(name, text)]
    if said in (["none"], ["off"]):
        return ()
    if said in (["all"], ["on"]):
        return tuple(PublicPart)
    for part in said:
        if part not in tuple(PublicPart):
            raise UsageError(
                "{name} has “{part}”; choose from {known}, or all.",
                name=name,
                part=headline(part, 40),
                known=tuple(PublicPart),
            )
    return tuple(part for part in PublicPart if part in said)


def _reference(name: str, text: str) -> str:
    """Return the id of a channel or a group, which a client may have written as a mention."""
    if mention := _MENTION.fullmatch(text):
        text = mention[1]
    if len(text) > LONGEST_REFERENCE or not _REFERENCE.fullmatch(text):
        raise UsageError(
            "{name} has “{text}”, which is not an id of this platform.",
            name=name,
            text=headline(text, 40),
        )
    return text


def _usd(name: str, text: str, defaults: Defaults) -> float:
    try:
        usd = float(text.removeprefix("$").strip())
    except ValueError:
        usd = -1.0
    if not 0 <= usd <= 1e6:
        raise UsageError(
            "{name} is “{text}”; write an amount in USD, as in 0.50.",
            name=name,
            text=headline(text, 40),
        )
    return _capped(name, usd, defaults)


def _days(name: str, text: str, _: Defaults) -> int:
    return parse_number(name, "0" if text.casefold() in NONE else text)


def _number(name: str, text: str, defaults: Defaults) -> int:
    return int(_capped(name, parse_number(name, text), defaults))


def _capped(name: str, value: float, defaults: Defaults) -> float:
    cap = getattr(defaults.caps, _CAPS[name])
    in_usd = name.endswith("_usd")
    if cap is not None and value > cap:
        raise UsageError(
            N_("{name} is {value:g} USD, above the operator's limit of {cap:g} USD; lower it.")
            if in_usd
            else N_("{name} is {value:g}, above the operator's limit of {cap:g}; lower it."),
            name=name,
            value=value,
            cap=cap,
        )
    return value


_READERS: Mapping[str, Callable[[str, str, Defaults], object]] = {
    "models": lambda name, text, has: _choose_all(parse_list(name, text), has.models),
    "jurors": lambda name, text, has: _choose_all(parse_list(name, text), has.judges),
    "judges": lambda name, text, has: _at_most(
        MOST_JUDGES,
        N_("{name} lists {n} models; the limit is {most}."),
        name,
        _choose_all(parse_list(name, text), (*has.judges, *has.own_judges)),
    ),
    "seats": _seats,
    "format": lambda name, text, _: find_format(read_option(name, text)).name,
    "language": lambda _, text, __: check_language(text),
    "channels": lambda name, text, _: _at_most(
        MOST_CHANNELS,
        N_("{name} lists {n} channels; the limit is {most}."),
        name,
        tuple(_reference(name, item) for item in parse_list(name, text)),
    ),
    "debate_usd": _usd,
    "daily_usd": _usd,
    "user_daily_debates": _number,
    "max_live": _number,
    "manager_role": lambda name, text, _: _reference(name, text),
    "license": lambda name, text, _: read_license(name, text),
    "blocked_words": _words,
    "topic_approval": lambda name, text, _: parse_switch(name, text),
    "starters": lambda name, text, _: _at_most(
        MOST_STARTERS,
        N_("{name} lists {n} groups; the limit is {most}."),
        name,
        tuple(_reference(name, item) for item in parse_list(name, text)),
    ),
    "public": _public,
    "account_days": _days,
    "member_days": _days,
}
