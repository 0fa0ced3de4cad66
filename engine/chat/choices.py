"""Models, topics, formats, languages and debates: listed by commands, matched while typing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from engine.chat.answers import Answer
from engine.chat.answers.catalogue import (
    FormatLine,
    ModelsAnswer,
    TopicsAnswer,
    format_list,
    suggested,
)
from engine.chat.context import Context, Requester, check, find_held, managers, manages, settings_of
from engine.chat.settings import overlay
from engine.formats import FORMATS
from engine.prompts import NAMES
from engine.run.order import Defaults, Order
from engine.store import Store
from engine.store.suggestions import listed
from engine.values.debate import Debate, Model, Value
from engine.values.errors import BudgetError, UsageError
from engine.values.language import ENGLISH, N_, speaking, spoken
from engine.values.limits import Caps
from engine.values.messages import Estimate
from engine.values.options import BUILT_IN, clean_text
from engine.values.text import MENTION, clean, headline, is_visible, redact
from engine.values.topics import RANDOM, Topic, check_topic, check_words, has_blocked
from engine.words.stored import called_language

# The motion of a debate that is about a message in a chat.


LONGEST_MOTION = 2000  # characters, so that a form takes them however it counts
_MENTIONS = re.compile(rf"\s*(?:{re.escape(MENTION)}[\s,:;]*)+")


def motion_of(text: str) -> str:
    """Return a message on one line, without mentions, cut at a word if it is too long.

    Raises UsageError for one without text, such as a picture.
    """
    plain = _MENTIONS.sub(" ", redact(clean(text))).strip()
    if not is_visible(plain):
        raise UsageError(
            "This message has no text to debate. Choose one with words, or write a motion with "
            "/debate start."
        )
    return headline(plain, LONGEST_MOTION)


MOST_CHOICES = 25  # what Discord shows
TYPICAL_TOPIC = "Remote work is better than office work"  # of usual length
CHOICE_LENGTH = 100  # characters, of what is taken and of what is read


class CommandChoice(Value):
    """A choice: the value that the command takes, and the label that a person reads."""

    value: str
    label: str


# --- lists -------------------------------------------------------------------------------


async def models(context: Context, person: Requester) -> ModelsAnswer:
    """List the models that can debate and judge here."""
    defaults = await _offered(context, person)
    return ModelsAnswer(
        models=tuple(model.ref for model in defaults.models),
        jurors=tuple(juror.ref for juror in defaults.jurors),
    )


async def formats(context: Context, person: Requester) -> Answer:
    """List the formats, with what a debate of each takes here."""
    return format_list(await format_lines(context, person))


async def format_lines(context: Context, person: Requester) -> tuple[FormatLine, ...]:
    """Return what each format is like, how long it reads and what it costs here."""
    offered = await _offered(context, person)
    # What it would cost is of interest even where a cap forbids it.
    uncapped = offered.model_copy(update={"caps": Caps()})
    lines = []
    for name, script in FORMATS.items():
        expected = await _expect(context, person, name, uncapped)
        lines.append(
            FormatLine(
                name=name,
                about=script.about,
                options=tuple(script.options.model_fields),
                minutes=expected and expected.reading,
                usd=expected and expected.usd,
            )
        )
    return tuple(lines)


async def _expect(
    context: Context, person: Requester, name: str, defaults: Defaults
) -> Estimate | None:
    """Return what a debate of a format takes here; None where none can begin.

    Models that nothing names are drawn as if by the same lot, so that the figures stay.
    """
    order = Order(
        platform=person.platform,
        community=person.community,
        place=person.place,
        topic=TYPICAL_TOPIC,
        format=name,
        seed=0,
    )
    try:
        _, expected, _ = await context.service.quote(order, defaults, ordinal=0)
        return expected
    except (UsageError, BudgetError):
        return None


async def _offered(context: Context, person: Requester) -> Defaults:
    return overlay(context.defaults, await settings_of(context.store, person))


# --- matches -----------------------------------------------------------------------------


async def match_models(
    context: Context, person: Requester, prefix: str
) -> tuple[CommandChoice, ...]:
    """Match the models that can debate here."""
    return model_choices(prefix, (await _offered(context, person)).debaters)


async def match_jurors(
    context: Context, person: Requester, prefix: str
) -> tuple[CommandChoice, ...]:
    """Match the models that can judge here."""
    return model_choices(prefix, (await _offered(context, person)).judges)


async def match_debates(
    context: Context, person: Requester, prefix: str
) -> tuple[CommandChoice, ...]:
    """Match the community's debates."""
    return debate_choices(prefix, await find_held(context.store, person))


def model_choices(prefix: str, offered: Iterable[Model]) -> tuple[CommandChoice, ...]:
    """Match models by any part of `backend/name`."""
    refs = dict.fromkeys(model.ref for model in offered)
    return matching(prefix, [CommandChoice(value=ref, label=ref) for ref in refs])


def format_choices(prefix: str) -> tuple[CommandChoice, ...]:
    """Match formats by name."""
    return matching(prefix, [CommandChoice(value=name, label=name) for name in FORMATS])


def topic_choices(
    prefix: str, topics: Iterable[Topic], locale: str = ""
) -> tuple[CommandChoice, ...]:
    """Match the offered topics; those in the person's language come first."""
    ranked = sorted(topics, key=lambda topic: not topic.speaks(locale))
    texts = [RANDOM, *(topic.text for topic in ranked)]
    return matching(
        prefix, [CommandChoice(value=text, label=headline(text, CHOICE_LENGTH)) for text in texts]
    )


def language_choices(prefix: str, locale: str) -> tuple[CommandChoice, ...]:
    """Match languages by code, or by name in the person's language, else in English.

    The person's own comes first.
    """
    own = locale.split("-")[0].casefold()
    with speaking(locale):
        shown = language_labels()
    with speaking(ENGLISH):
        english = language_labels()
    for labels in (shown, english):
        first = sorted(labels, key=lambda code: code != own)
        found = matching(prefix, [CommandChoice(value=one, label=labels[one]) for one in first])
        if found:
            return tuple(CommandChoice(value=one.value, label=shown[one.value]) for one in found)
    return ()


def language_labels() -> dict[str, str]:
    """Return the languages on offer by code, as people choose from them: “German (de)”."""
    named = {code: called_language(code) or name for code, name in NAMES.items()}
    return {code: f"{name} ({code})" for code, name in sorted(named.items(), key=lambda of: of[1])}


def debate_choices(prefix: str, debates: Iterable[Debate]) -> tuple[CommandChoice, ...]:
    """Match debates by code or topic; one whose code others have is taken by its id."""
    shown = tuple(debates)
    codes = Counter(debate.code for debate in shown)
    return matching(
        prefix,
        [
            CommandChoice(
                value=debate.id if codes[debate.code] > 1 else debate.code,
                label=headline(f"{debate.code} {debate.request.topic}", CHOICE_LENGTH),
            )
            for debate in shown
        ],
    )


def matching(prefix: str, choices: Sequence[CommandChoice]) -> tuple[CommandChoice, ...]:
    """Return at most 25 choices: prefix matches first, then substring matches.

    Skips values that are too long for the platform to return; these can still be typed.
    """
    wanted = " ".join(prefix.split()).casefold()
    short = [choice for choice in choices if len(choice.value) <= CHOICE_LENGTH]
    begin: list[CommandChoice] = []
    hold: list[CommandChoice] = []
    for choice in short:
        texts = (choice.value.casefold(), choice.label.casefold())
        if any(text.startswith(wanted) for text in texts):
            begin.append(choice)
        elif any(wanted in text for text in texts):
            hold.append(choice)
    return tuple((*begin, *hold)[:MOST_CHOICES])


# Topics that people suggest: the commands suggest and topics, and where they are drawn.


APPROVERS = managers(N_("approve or remove topics"))


async def suggest(context: Context, person: Requester, topic: str) -> Answer:
    """Put a topic on the list, or before a manager; a known one gets an upvote.

    Raises UsageError for a topic that cannot be debated here, and at a limit; ModelError while a
    moderation model cannot be asked.
    """
    topic = check_topic(clean_text("topic", topic))
    if topic.casefold() == RANDOM:
        raise UsageError(
            "“{random}” draws a topic, so it cannot be one; suggest another.",
            random=RANDOM,
        )
    defaults = overlay(context.defaults, await settings_of(context.store, person))
    check_words(defaults.blocked_words, topic)
    await context.service.moderate([topic])
    approved = not defaults.topic_approval or await manages(context.store, person)
    suggestion, new = await context.store.suggestions.suggest(
        person.platform,
        person.community,
        person.user,
        topic,
        context.service.clock.now(),
        approved=approved,
    )
    waits = "listed" if suggestion.approved else "waits"
    return suggested(waits if new else "known", suggestion)


async def topics(context: Context, person: Requester, action: str = "", number: int = 0) -> Answer:
    """List suggested topics and ideas, or upvote, approve or remove a suggestion."""
    store, of = context.store.suggestions, (person.platform, person.community)
    match action:
        case "upvote":
            now = context.service.clock.now()
            found = await store.toggle(*of, number, person.user, now)
            return suggested("upvoted" if found.mine else "taken_back", found)
        case "approve" | "remove":
            await check(APPROVERS, context.store, person)
            act = store.approve if action == "approve" else store.remove
            outcome = "listed" if action == "approve" else "removed"
            return suggested(outcome, await act(*of, number))
    settings = await settings_of(context.store, person)
    defaults = overlay(context.defaults, settings)
    held = await context.store.suggestions.open(person.platform, person.community, person.user)
    seen = listed(held, defaults.blocked_words)
    managing = await manages(context.store, person)
    ideas, others = _ideas(defaults, settings.language or "")
    return TopicsAnswer(
        suggested=tuple(seen),
        waiting=tuple(one for one in held if one not in seen) if managing else (),
        ideas=ideas,
        others=others,
    )


def _ideas(
    defaults: Defaults, chosen: str
) -> tuple[tuple[Topic, ...], tuple[tuple[str, int], ...]]:
    """Return the topics in the language of debates here, and count the others by language.

    Where none is `chosen` for debates, those in the reader's own language.
    """
    language = chosen or spoken()
    fit = [one for one in defaults.topics if not has_blocked(defaults.blocked_words, one.text)]
    usual = (BUILT_IN | defaults).language or ""
    here = [topic for topic in fit if topic.speaks(language)]
    here = here or [topic for topic in fit if topic.speaks(usual)]
    others = Counter(topic.language for topic in fit if topic not in here) if here else {}
    return tuple(here or fit), tuple(others.items())


async def match_topics(
    context: Context, person: Requester, prefix: str, locale: str
) -> tuple[CommandChoice, ...]:
    """Match the topics that people suggested, then the others on offer."""
    own = await suggested_topics(context.store, person, context.defaults)
    return topic_choices(prefix, (*own, *context.defaults.topics), locale)


async def suggested_topics(store: Store, person: Requester, defaults: Defaults) -> Sequence[Topic]:
    """Return a community's own topics, in the language of its debates."""
    language = (BUILT_IN | defaults).language or ""
    held = await store.suggestions.open(person.platform, person.community)
    seen = listed(held, (await settings_of(store, person)).blocked_words)
    return [Topic(text=one.text, language=language) for one in seen]
