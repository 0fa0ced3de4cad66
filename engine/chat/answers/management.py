"""Answers to managers: settings, exports, schedules and leagues; Markdown for any chat."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from engine.chat.answers import PREFIX, Answer, SentFile, Wording, answering
from engine.chat.answers.statistics import left_out
from engine.series.spec import Recurring
from engine.values.debate import Value
from engine.values.language import N_, Count, Text
from engine.values.messages import LeagueTable
from engine.values.text import headline
from engine.values.topics import RANDOM
from engine.words.scores import league_lines, league_title
from engine.words.translation import say

# Answers about schedules; Markdown for any chat.


TOPIC_LENGTH = 100  # characters


@answering()
def schedule_list(
    _: Wording, schedules: Sequence[tuple[Recurring, str, str]], place: str, *, new: bool = False
) -> Iterator[str]:
    """List the schedules of a community; `new`: one was set just now, in this `place`.

    With each stand when it is next, and why the last time was skipped, if it was.
    """
    if new:
        yield say("The schedule is set. `{prefix} schedule off` ends it.", prefix=PREFIX)
    if not schedules:
        yield say(
            "There is no schedule here. A manager can set one, for example: `{prefix} schedule "
            '"every weekday 09:00 Europe/Berlin"`.',
            prefix=PREFIX,
        )
    for recurring, following, problem in schedules:
        template = (
            N_("**{said}** in this channel: {topic}. Next: {time}.")
            if recurring.place == place
            else N_("**{said}** in another channel: {topic}. Next: {time}.")
        )
        topic = say("the topic that people want most")
        if wanted := recurring.options.topic:
            drawn = wanted.casefold() == RANDOM
            topic = f"“{headline(wanted, TOPIC_LENGTH)}”"
            topic = say("a topic drawn from the list") if drawn else topic
        yield say(template, said=recurring.said, topic=topic, time=following)
        if problem:
            yield say("The last one was skipped. {problem}", problem=say(problem))


SCHEDULE_ENDED = N_("The schedule has ended; a debate that is going on is finished.")


# Answers about leagues; Markdown for any chat.


LEAGUE_STOPPED = N_("The league ends; a match that is going on is finished first.")


def league_started(models: int, matches: int, first: str = "") -> Answer:
    """Confirm a league; `first` is when its first match begins, empty for at once."""
    begins = Count(
        "The league begins with {n} model and {matches} matches.",
        "The league begins with {n} models and {matches} matches.",
        models,
        matches=matches,
    )
    first_match = (
        Text("First match: {time}. The standing is posted here after each reveal.", time=first)
        if first
        else Text("The first match begins now. The standing is posted here after each reveal.")
    )
    return Answer(texts=(begins, first_match))


@answering()
def league_standing(_: Wording, table: LeagueTable, problem: str = "") -> Iterator[str]:
    """Show the standing of a league, and what keeps its next match from beginning."""
    yield f"**{league_title(table)}**"
    yield from league_lines(table)
    if problem:
        yield say("⏳ The next match cannot begin yet: {problem}", problem=say(problem))


NONE = N_("none")
UNSET = {
    "models": NONE,
    "jurors": NONE,
    "judges": N_("one of the jurors"),
    "seats": NONE,
    "channels": N_("all channels"),
    "manager_role": NONE,
    "license": N_("not set"),
    "blocked_words": NONE,
    "starters": N_("everyone"),
    "public": N_("nothing"),
}
NO_WEB = N_("Rostrum serves no web pages here")


class SettingLine(Value):
    """A setting's effective value; `own` when the community has set it.

    `value` is in the form that the setting accepts; empty means no list, no cap, no role. `idle`
    says why it has no effect.
    """

    name: str
    value: str
    own: bool
    idle: str = ""


class SettingsAnswer(Answer):
    """Every setting of a community; `changed` names those just changed, `page` is on the web."""

    private: bool = True
    settings: tuple[SettingLine, ...]
    changed: tuple[str, ...] = ()
    page: str = ""

    def without(self, names: Collection[str]) -> SettingsAnswer:
        """Return the answer without settings that a platform does not support."""
        kept = tuple(line for line in self.settings if line.name not in names)
        return self.model_copy(update={"settings": kept})

    def say(self, chat: Wording) -> Iterator[str]:
        """Name the changed settings, then list all."""
        if self.changed:
            yield say("Changed: {names}.", names=self.changed)
        for setting in self.settings:
            template = (
                N_("- `{name}`: {value} (set here)") if setting.own else "- `{name}`: {value}"
            )
            value = setting.value or unset(setting.name)
            if setting.idle:
                yield say(
                    "- `{name}`: {value} ({why})",
                    name=setting.name,
                    value=value,
                    why=say(setting.idle),
                )
            else:
                yield say(template, name=setting.name, value=value)
        if self.page:
            yield say("Public pages: {link}", link=self.page)
        yield say(
            "Change one like this: `{prefix} settings rounds=2`. The value `default` resets it.",
            prefix=PREFIX,
        )


def unset(name: str) -> str:
    """Return the wording for a setting without a value."""
    text = UNSET.get(name, N_("no cap"))
    return say(text)


def export_file(file: SentFile, debates: int, rehearsals: int = 0) -> Answer:
    """Describe an export and its number of debates; `rehearsals` counts those left out."""
    holds = Count(
        "`{name}` has {n} revealed debate.",
        "`{name}` has {n} revealed debates.",
        debates,
        name=file.name,
    )
    return Answer(texts=(holds, *left_out(rehearsals)), file=file, private=True)


def no_export(community: str, size: int, most: int, rehearsals: int = 0) -> Answer:
    """Explain why there is no file: no debate is revealed, or its bytes exceed `most`.

    `rehearsals` counts rehearsal debates, which are left out.
    """
    if size:
        why = Text(
            "The export is {size:.1f} MiB; at most {most:.1f} MiB can be sent here. The "
            "operator can write it with: `rostrum export --out FOLDER --community {community}`",
            size=size / 2**20,
            most=most / 2**20,
            community=community,
        )
    elif rehearsals:
        why = Text(
            "Only rehearsal debates were revealed here. Their speakers or jurors are not "
            "language models, so exports leave them out. The operator can include them: "
            "`rostrum export --out FOLDER --include-rehearsal --community {community}`",
            community=community,
        )
    else:
        why = Text(
            "There is nothing to export: no debate was revealed here yet. Hold one, and export "
            "it after its vote closes."
        )
    return Answer(texts=(why,), private=True)
