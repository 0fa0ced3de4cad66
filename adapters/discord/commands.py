"""`/debate` and its subcommands, as Discord shows them; each becomes a command value.

Each Discord client shows them in its own language (translation.py). Autocompletion validates
nothing, so the command itself checks every value.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Literal

import discord
import structlog
from discord import app_commands

from adapters.discord import texts
from adapters.discord.interactions import (
    BUTTONS_ONLY,
    NO_SETTINGS,
    DiscordInteractionHandler,
    Interaction,
)
from adapters.discord.translation import language_of
from engine.chat.choices import (
    CommandChoice,
    format_choices,
    language_choices,
    match_debates,
    match_jurors,
    match_models,
    match_topics,
    matching,
)
from engine.chat.command_line import read_start, split_words
from engine.chat.context import Context, Requester
from engine.chat.invocation import (
    DebateArgument,
    DeleteArguments,
    ForgetArguments,
    HelpArguments,
    Invocation,
    LeagueArguments,
    MeArguments,
    ReviewArguments,
    ScheduleArguments,
    SettingsArguments,
    StartArguments,
    SuggestArguments,
    TopicsArguments,
)
from engine.chat.participants import NO_VOTE
from engine.store.communities import SETTING_NAMES
from engine.tally.questions import vote_options
from engine.values.errors import RostrumError, UsageError
from engine.values.language import N_, speaking
from engine.values.options import IN_A_CHAT, STANCES, suggest
from engine.values.text import clean, headline
from engine.words.phrases import TOPIC_HINT
from engine.words.translation import say

LONGEST_CHOICE = 100  # characters
LONGEST_INPUT = 4000
Choices = list[app_commands.Choice[str]]
Match = Callable[[Context, Requester], Awaitable[tuple[CommandChoice, ...]]]
Rounds = app_commands.Range[int, 1, 9]
Number = app_commands.Range[int, 1, 2**31 - 1]
Minutes = app_commands.Range[float, 0.1, 10080.0]
SETTINGS = tuple(name for name in SETTING_NAMES if name not in NO_SETTINGS)
VOTES = (*vote_options(("A", "B", *"123456789")), NO_VOTE)
ATTACHED = ("source", "source_2")
log = structlog.get_logger(__name__)
DEBATE = "The debate's code; leave it out for the one in this channel or thread"


class DebateCommands(app_commands.Group):
    """`/debate`, for everyone who can write; servers can override that, as for any command."""

    def __init__(self, desk: DiscordInteractionHandler) -> None:
        super().__init__(
            name="debate",
            description="Debates between AI models, judged by a blind jury and by you",
            guild_only=desk.trial is None,
            allowed_installs=app_commands.AppInstallationType(
                guild=True, user=desk.trial is not None
            ),
            allowed_contexts=app_commands.AppCommandContext(
                guild=True, dm_channel=desk.trial is not None, private_channel=False
            ),
            default_permissions=discord.Permissions(send_messages=True),
        )
        self._desk = desk

    @app_commands.command(description="Start a debate; models left out are drawn at random")
    @app_commands.describe(
        topic="A motion to argue for and against; leave it out to open a form for longer ones",
        conditions=N_("What both sides accept"),
        stance_a="What 🔵 A argues in your own words, if not for the topic: tabs",
        stance_b="What 🔴 B argues in your own words, if not against the topic: spaces",
        format="How they debate",
        model_a="Who argues for it (🔵 A)",
        model_b="Who argues against it (🔴 B)",
        jurors="Who judges, separated by commas",
        language="The language of the debate",
        length="How long the debate is; short is read in five minutes",
        rounds="Rounds of rebuttals",
        vote_minutes="How long the vote is open",
        ballot=N_("How people vote"),
        scores="When a format's own scores are shown",
        turn_order="Whether a side sees the other's speech of the same round",
        blind="Whether the models' names are hidden from jurors",
        stance="Whether to ask people for their opinion before and after",
        confidence="Whether to ask with the vote how clear it was",
        round_votes="Whether to ask people after each round who is ahead",
        mirror="Whether to hold a second debate with the sides swapped",
        panel="How many jurors read, and how often",
        judges="The format's own judges, separated by commas",
        source="A text or Markdown file that every side reads",
        source_2="Another one",
        more="More format options and models of single speakers: name=value name=value",
    )
    @app_commands.rename(stance_a="for", stance_b="against")
    async def start(
        self,
        interaction: Interaction,
        topic: app_commands.Range[str, 1, LONGEST_INPUT] | None = None,
        conditions: str | None = None,
        format: str | None = None,
        model_a: str | None = None,
        model_b: str | None = None,
        jurors: str | None = None,
        language: str | None = None,
        length: Literal["short", "normal", "long"] | None = None,
        rounds: Rounds | None = None,
        vote_minutes: Minutes | None = None,
        ballot: Literal["open", "secret", "private"] | None = None,
        scores: Literal["after_vote", "live"] | None = None,
        turn_order: Literal["sequential", "simultaneous"] | None = None,
        blind: bool | None = None,
        stance: bool | None = None,
        round_votes: bool | None = None,
        confidence: bool | None = None,
        mirror: bool | None = None,
        panel: Literal["adaptive", "all", "one", "strict"] | None = None,
        stance_a: str | None = None,
        stance_b: str | None = None,
        judges: str | None = None,
        source: discord.Attachment | None = None,
        source_2: discord.Attachment | None = None,
        more: str | None = None,
    ) -> None:
        """Start a debate, asking for the topic in a form when it is left out."""
        # The parameters only declare the options; the namespace has the given ones.
        given = {
            STANCES.get(name, name): value
            for name, value in interaction.namespace
            if value is not None
        }
        if topic is None:
            with speaking(language_of(interaction)):
                await interaction.response.send_modal(TopicForm(self._desk, given))
        else:
            await self._desk.carry_out(interaction, partial(start_command, given), attached(given))

    @app_commands.command(description="Stop a debate (its starter or a manager)")
    @app_commands.describe(debate=DEBATE)
    async def cancel(self, interaction: Interaction, debate: str | None = None) -> None:
        """Stop a debate."""
        await self._desk.carry_out(interaction, Invocation("cancel", DebateArgument(debate=debate)))

    @app_commands.command(description="Close a vote early (managers)")
    @app_commands.describe(debate=DEBATE)
    async def close(self, interaction: Interaction, debate: str | None = None) -> None:
        """Close a vote early."""
        await self._desk.carry_out(interaction, Invocation("close", DebateArgument(debate=debate)))

    @app_commands.command(description="Take a debate out of the chat and the record")
    @app_commands.describe(
        debate=DEBATE,
        mirror="Whether its mirror goes too",
        confirm="True to confirm; leave it out to read what it means",
    )
    async def delete(
        self,
        interaction: Interaction,
        debate: str | None = None,
        mirror: bool = False,
        confirm: bool = False,
    ) -> None:
        """Delete a debate, once confirmed."""
        given = DeleteArguments(debate=debate, mirror=mirror, confirm=confirm)
        await self._desk.carry_out(interaction, Invocation("delete", given))

    @app_commands.command(description="Show a debate's progress")
    @app_commands.describe(debate=DEBATE)
    async def status(self, interaction: Interaction, debate: str | None = None) -> None:
        """Show a debate's progress."""
        await self._desk.carry_out(interaction, Invocation("status", DebateArgument(debate=debate)))

    @app_commands.command(description="Show a debate's result")
    @app_commands.describe(debate=DEBATE)
    async def result(self, interaction: Interaction, debate: str | None = None) -> None:
        """Show a debate's result."""
        await self._desk.carry_out(interaction, Invocation("result", DebateArgument(debate=debate)))

    @app_commands.command(description="List the debates on this server")
    async def list(self, interaction: Interaction) -> None:
        """List the debates."""
        await self._desk.carry_out(interaction, Invocation("list"))

    @app_commands.command(description="List the models that can debate and judge here")
    async def models(self, interaction: Interaction) -> None:
        """List the models."""
        await self._desk.carry_out(interaction, Invocation("models"))

    @app_commands.command(description="List the topics that people here suggested, and ideas")
    @app_commands.describe(
        action="What to do with a topic; leave it out to see the list",
        number="The topic's number",
    )
    async def topics(
        self,
        interaction: Interaction,
        action: Literal["upvote", "approve", "remove"] | None = None,
        number: Number | None = None,
    ) -> None:
        """List the topics, or do something with one."""
        given = TopicsArguments(action=action or "", number=number or 0)
        await self._desk.carry_out(interaction, Invocation("topics", given))

    @app_commands.command(description="Suggest a topic for a debate here")
    @app_commands.describe(topic=N_("A motion to argue for and against"))
    async def suggest(
        self, interaction: Interaction, topic: app_commands.Range[str, 1, LONGEST_INPUT]
    ) -> None:
        """Suggest a topic."""
        await self._desk.carry_out(
            interaction, Invocation("suggest", SuggestArguments(topic=topic))
        )

    @app_commands.command(description="List the debate formats")
    async def formats(self, interaction: Interaction) -> None:
        """List the formats."""
        await self._desk.carry_out(interaction, Invocation("formats"))

    @app_commands.command(description="Show or change this server's settings (managers)")
    @app_commands.describe(
        setting="The setting to change; leave it out to see all",
        value="Its new value; “default” resets it",
    )
    async def settings(
        self, interaction: Interaction, setting: str | None = None, value: str | None = None
    ) -> None:
        """Show the settings, or change one."""
        changes = {setting: value} if setting and value is not None else {}
        await self._desk.carry_out(
            interaction, Invocation("settings", SettingsArguments(changes=changes))
        )

    @app_commands.command(description="Export the data of revealed debates as a file (managers)")
    async def export(self, interaction: Interaction) -> None:
        """Export the debates."""
        await self._desk.carry_out(interaction, Invocation("export"))

    @app_commands.command(description="Show how far jury and people agree")
    async def agreement(self, interaction: Interaction) -> None:
        """Show how far jury and people agree."""
        await self._desk.carry_out(interaction, Invocation("agreement"))

    @app_commands.command(description="Show how people and jury rate the models")
    async def leaderboard(self, interaction: Interaction) -> None:
        """Rate the models."""
        await self._desk.carry_out(interaction, Invocation("leaderboard"))

    @app_commands.command(
        description="Hold a league among the models here (managers); its standing"
    )
    @app_commands.describe(
        action="What to do; leave it out to see the standing",
        system="Who meets whom",
        every="How often a match begins: 1d, 12h",
        at="When the first match of a day begins: 09:00 Europe/Berlin",
        matches="How often each pair meets, or the rounds of a Swiss system",
        quorum="How many votes decide a match",
        decided="Who decides a match",
        format="How they debate",
    )
    @app_commands.rename(matches="rounds")
    async def league(
        self,
        interaction: Interaction,
        action: Literal["standing", "start", "stop"] = "standing",
        system: Literal["round_robin", "swiss", "knockout"] | None = None,
        every: str | None = None,
        at: str | None = None,
        matches: app_commands.Range[int, 1, 99] | None = None,
        quorum: app_commands.Range[int, 0, 10_000] | None = None,
        decided: Literal["people_then_jury", "people", "jury"] | None = None,
        format: str | None = None,
    ) -> None:
        """Start, show or stop a league."""
        given = LeagueArguments(
            action=action,
            system=system,
            every=every,
            at=at,
            rounds=matches,
            quorum=quorum,
            decided=decided,
            format=format,
        )
        await self._desk.carry_out(interaction, Invocation("league", given))

    @app_commands.command(description="Hold debates at set times (managers); shows them")
    @app_commands.describe(
        when="every weekday 09:00 Europe/Berlin; “off” ends it; leave it out to see it",
        topic="The same motion each time; without one the topic that people want most",
        format="How they debate",
        more="More options of start: name=value name=value",
    )
    async def schedule(
        self,
        interaction: Interaction,
        when: str | None = None,
        topic: str | None = None,
        format: str | None = None,
        more: str | None = None,
    ) -> None:
        """Show, set or end a schedule."""
        given = {"topic": topic, "format": format, "more": more}
        await self._desk.carry_out(interaction, partial(schedule_command, when or "", given))

    @app_commands.command(description="Review debates whose winner is unclear")
    @app_commands.describe(
        debate="The code of a revealed debate; leave it out to get suggestions",
        vote="Who debated better; “none” withdraws your answer",
    )
    async def review(
        self, interaction: Interaction, debate: str | None = None, vote: str | None = None
    ) -> None:
        """Offer revealed debates, or answer one."""
        await self._desk.carry_out(
            interaction, Invocation("review", ReviewArguments(debate=debate, vote=vote))
        )

    @app_commands.command(description="Show how your votes compare with people and jury")
    @app_commands.describe(
        scoreboard="Whether the leaderboard names you among those who guess models"
    )
    async def me(self, interaction: Interaction, scoreboard: bool | None = None) -> None:
        """Show a person's own votes."""
        await self._desk.carry_out(
            interaction, Invocation("me", MeArguments(scoreboard=scoreboard))
        )

    @app_commands.command(description="Show what is stored about you and this server")
    async def privacy(self, interaction: Interaction) -> None:
        """Show what is stored."""
        await self._desk.carry_out(interaction, Invocation("privacy"))

    @app_commands.command(description="Get everything stored about you as a file")
    async def mydata(self, interaction: Interaction) -> None:
        """Send the person's own data."""
        await self._desk.carry_out(interaction, Invocation("mydata"))

    @app_commands.command(
        description="Erase your identity, at once and for good; your votes still count"
    )
    @app_commands.describe(confirm="True to confirm; leave it out to read what it means")
    async def forget(self, interaction: Interaction, confirm: bool = False) -> None:
        """Forget the person, once confirmed."""
        await self._desk.carry_out(
            interaction, Invocation("forget", ForgetArguments(confirm=confirm))
        )

    @app_commands.command(description="Leave your data out of exports; your votes still count")
    async def optout(self, interaction: Interaction) -> None:
        """Leave the person out of exports."""
        await self._desk.carry_out(interaction, Invocation("optout"))

    @app_commands.command(description="Undo optout, or come back after being forgotten")
    async def optin(self, interaction: Interaction) -> None:
        """Include the person in exports again."""
        await self._desk.carry_out(interaction, Invocation("optin"))

    @app_commands.command(description="Show what Rostrum can do")
    @app_commands.describe(command="The command to explain")
    async def help(self, interaction: Interaction, command: str | None = None) -> None:
        """Explain the commands."""
        await self._desk.carry_out(interaction, partial(self._help_on, command))

    def _help_on(self, command: str | None) -> Invocation:
        """Parse what to explain. Raises UsageError for a command that is not here."""
        known = [one.name for one in self.commands]
        name = clean(command or "").strip().casefold().rsplit("/", 1)[-1]
        if name and name not in (*known, *BUTTONS_ONLY):
            near = suggest(name, known, listed_by="help")
            raise UsageError(
                "Unknown command “{command}”; {near}", command=headline(name, 40), near=near
            )
        return Invocation("help", HelpArguments(command=name or None))

    # --- autocompletion ------------------------------------------------------------------

    @start.autocomplete("topic")
    @schedule.autocomplete("topic")
    async def _topics(self, interaction: Interaction, typed: str) -> Choices:
        return await self._offer(
            interaction, partial(match_topics, prefix=typed, locale=interaction.locale.value)
        )

    @league.autocomplete("format")
    @schedule.autocomplete("format")
    @start.autocomplete("format")
    async def _formats(self, interaction: Interaction, typed: str) -> Choices:
        return _listed(format_choices(typed))

    @start.autocomplete("language")
    async def _languages(self, interaction: Interaction, typed: str) -> Choices:
        return _listed(language_choices(typed, interaction.locale.value))

    @start.autocomplete("model_a")
    @start.autocomplete("model_b")
    async def _models(self, interaction: Interaction, typed: str) -> Choices:
        return await self._offer(interaction, partial(match_models, prefix=typed))

    @start.autocomplete("jurors")
    @start.autocomplete("judges")
    async def _jurors(self, interaction: Interaction, typed: str) -> Choices:
        before, comma, last = typed.rpartition(",")
        found = await self._offer(interaction, partial(match_jurors, prefix=last.strip()))
        whole = (f"{before}{comma}{choice.value}" for choice in found)
        return _listed(
            tuple(CommandChoice(value=text, label=text[-LONGEST_CHOICE:]) for text in whole)
        )

    async def _offer(self, interaction: Interaction, match: Match) -> Choices:
        """Offer choices that are read from the database; none while somebody types too fast."""
        commands = self._desk.commands
        try:
            commands.check_database()
            person = await self._desk.person(interaction)
            commands.typing.check((person.platform, person.user), commands.service.clock.now())
            return _listed(await match(commands, person))
        except RostrumError as error:
            log.debug("nothing offered", why=str(error))
            return []

    @cancel.autocomplete("debate")
    @delete.autocomplete("debate")
    @close.autocomplete("debate")
    @status.autocomplete("debate")
    @result.autocomplete("debate")
    @review.autocomplete("debate")
    async def _debates(self, interaction: Interaction, typed: str) -> Choices:
        return await self._offer(interaction, partial(match_debates, prefix=typed))

    @review.autocomplete("vote")
    async def _votes(self, interaction: Interaction, typed: str) -> Choices:
        return _listed(matching(typed, [CommandChoice(value=n, label=n) for n in VOTES]))

    @settings.autocomplete("setting")
    async def _settings(self, interaction: Interaction, typed: str) -> Choices:
        return _listed(matching(typed, [CommandChoice(value=n, label=n) for n in SETTINGS]))

    @help.autocomplete("command")
    async def _commands(self, interaction: Interaction, typed: str) -> Choices:
        names = [command.name for command in self.commands]
        return _listed(matching(typed, [CommandChoice(value=n, label=n) for n in names]))


class TopicForm(discord.ui.Modal):
    """Asks for a topic that may be long; the other options were given with the command."""

    def __init__(self, desk: DiscordInteractionHandler, given: Mapping[str, Any]) -> None:
        super().__init__(title=say(texts.TOPIC_TITLE))
        self._desk, self._given = desk, given
        self.topic: discord.ui.TextInput[TopicForm] = discord.ui.TextInput(
            custom_id="topic",
            label=say(texts.TOPIC_FIELD),
            placeholder=say(TOPIC_HINT),
            style=discord.TextStyle.paragraph,
            default=given.get("topic"),
            max_length=LONGEST_INPUT,
        )
        self.conditions: discord.ui.TextInput[TopicForm] = discord.ui.TextInput(
            custom_id="conditions",
            label=say(texts.CONDITIONS_FIELD),
            placeholder=say(texts.CONDITIONS_HINT),
            style=discord.TextStyle.paragraph,
            default=given.get("conditions"),
            required=False,
            max_length=LONGEST_INPUT,
        )
        self.stances: dict[str, discord.ui.TextInput[TopicForm]] = {
            name: discord.ui.TextInput(
                custom_id=said,
                label=say(texts.STANCE_FIELDS[said]),
                placeholder=say(texts.STANCE_HINTS[said]),
                default=given.get(name),
                required=False,
                max_length=LONGEST_INPUT,
            )
            for said, name in STANCES.items()
        }
        for item in (self.topic, *self.stances.values(), self.conditions):
            self.add_item(item)

    async def on_submit(self, interaction: Interaction) -> None:
        """Start the debate."""
        typed = {"topic": self.topic.value, "conditions": self.conditions.value}
        stances = {name: item.value for name, item in self.stances.items()}
        given = {**self._given, **typed, **stances}
        await self._desk.carry_out(interaction, partial(start_command, given), attached(given))


def attached(given: Mapping[str, Any]) -> tuple[discord.Attachment, ...]:
    """Return the files among the options given to `/debate start`, in their order."""
    return tuple(given[name] for name in ATTACHED if name in given)


def start_command(given: Mapping[str, Any]) -> Invocation:
    """Parse the options given to `/debate start`. Raises UsageError."""
    # No usage: Discord shows how each option is written.
    more = read_start(split_words(clean(given.get("more") or "")))
    if more.topic:
        raise UsageError(texts.MORE_IS_OPTIONS)
    sides = {"A": given.get("model_a"), "B": given.get("model_b")}
    said = {name: given[name] for name in IN_A_CHAT if given.get(name) not in (None, "")}
    named = {
        name: tuple(filter(None, map(str.strip, given[name].split(","))))
        for name in ("jurors", "judges")
        if given.get(name)
    }
    chosen = {**more.sides, **{side: model for side, model in sides.items() if model}}
    return Invocation("start", StartArguments(**dict(more) | said | named | {"sides": chosen}))


def schedule_command(when: str, given: Mapping[str, Any]) -> Invocation:
    """Parse the options given to `/debate schedule`. Raises UsageError."""
    when = "off" if when.strip().casefold() == "off" else when.strip()
    arguments = start_command(given).arguments
    return Invocation("schedule", ScheduleArguments(**dict(arguments) | {"when": when}))


def _listed(choices: tuple[CommandChoice, ...]) -> Choices:
    fit = (choice for choice in choices if len(choice.value) <= LONGEST_CHOICE)
    return [app_commands.Choice(name=choice.label, value=choice.value) for choice in fit]
