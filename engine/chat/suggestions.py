"""Topics that people suggest: the commands suggest and topics, and where they are drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from engine.chat.answers.catalogue import IdeasAnswer
from engine.chat.answers.suggestions import SuggestedAnswer, TopicsAnswer
from engine.chat.choices import CommandChoice, topic_choices
from engine.chat.context import Context
from engine.chat.invocation import SuggestArguments, TopicsArguments
from engine.chat.permission import check, managers, manages
from engine.chat.person import Person, settings_of
from engine.chat.settings import overlay
from engine.line.intake import Defaults, check_topic, check_words
from engine.line.next_topic import listed
from engine.store import Store
from engine.values.errors import UsageError
from engine.values.language import spoken
from engine.values.options import BUILT_IN
from engine.values.topics import RANDOM, Topic, has_blocked

APPROVERS = managers("approve or remove topics")


async def suggest(context: Context, person: Person, asked: SuggestArguments) -> SuggestedAnswer:
    """Put a topic on the list, or before a manager; a known one gets an upvote.

    Raises UsageError for a topic that cannot be debated here, and at a limit; ModelError while a
    moderation model cannot be asked.
    """
    topic = check_topic(asked.topic)
    if topic.casefold() == RANDOM:
        raise UsageError(
            "“{random}” draws a topic, so it cannot be one; suggest another.",
            random=RANDOM,
        )
    defaults = await _defaults(context, person)
    check_words(defaults.blocked_words, topic)
    await context.service.moderate([topic])
    approved = not defaults.topic_approval or await manages(context.store, person)
    found = await context.store.suggestions.suggest(
        person.platform,
        person.community,
        person.user,
        topic,
        context.service.clock.now(),
        approved=approved,
    )
    waits = "listed" if found.suggestion.approved else "waits"
    return SuggestedAnswer(outcome=waits if found.new else "known", suggestion=found.suggestion)


async def topics(
    context: Context, person: Person, asked: TopicsArguments
) -> TopicsAnswer | SuggestedAnswer:
    """List suggested topics and ideas, or upvote, approve or remove a suggestion."""
    store, of = context.store.suggestions, (person.platform, person.community)
    match asked.action:
        case "upvote":
            now = context.service.clock.now()
            found = await store.toggle(*of, asked.number, person.user, now)
            return SuggestedAnswer(
                outcome="upvoted" if found.mine else "taken_back", suggestion=found
            )
        case "approve" | "remove":
            await check(APPROVERS, context.store, person)
            act = store.approve if asked.action == "approve" else store.remove
            outcome = "listed" if asked.action == "approve" else "removed"
            return SuggestedAnswer(outcome=outcome, suggestion=await act(*of, asked.number))
    return await _list(context, person)


async def _list(context: Context, person: Person) -> TopicsAnswer:
    settings = await settings_of(context.store, person)
    defaults = overlay(context.defaults, settings)
    held = await context.store.suggestions.open(person.platform, person.community, person.user)
    seen = listed(held, defaults.blocked_words)
    managing = await manages(context.store, person)
    return TopicsAnswer(
        suggested=tuple(seen),
        waiting=tuple(one for one in held if one not in seen) if managing else (),
        ideas=_ideas(defaults, settings.language or ""),
    )


def _ideas(defaults: Defaults, chosen: str) -> IdeasAnswer:
    """Return the topics in the language of debates here, and count the others by language.

    Where none is `chosen` for debates, those in the reader's own language.
    """
    language = chosen or spoken()
    fit = [one for one in defaults.topics if not has_blocked(defaults.blocked_words, one.text)]
    usual = (BUILT_IN | defaults).language or ""
    here = [topic for topic in fit if topic.speaks(language)]
    here = here or [topic for topic in fit if topic.speaks(usual)]
    others = Counter(topic.language for topic in fit if topic not in here) if here else {}
    return IdeasAnswer(topics=tuple(here or fit), others=tuple(others.items()))


async def match_topics(
    context: Context, person: Person, prefix: str, locale: str
) -> tuple[CommandChoice, ...]:
    """Match the topics that people suggested, then the others on offer."""
    own = await suggested_topics(context.store, person, context.defaults)
    return topic_choices(prefix, (*own, *context.defaults.topics), locale)


async def suggested_topics(store: Store, person: Person, defaults: Defaults) -> Sequence[Topic]:
    """Return a community's own topics, in the language of its debates."""
    language = (BUILT_IN | defaults).language or ""
    held = await store.suggestions.open(person.platform, person.community)
    seen = listed(held, (await settings_of(store, person)).blocked_words)
    return [Topic(text=one.text, language=language) for one in seen]


async def _defaults(context: Context, person: Person) -> Defaults:
    return overlay(context.defaults, await settings_of(context.store, person))
