"""Every text that people and models are shown is what was recorded: tests/recorded/texts.

`make record` records them anew, on purpose; the commit that does says what changed and why.
A file has what one room says, and a language where it is said in five.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from difflib import unified_diff
from itertools import groupby, islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import discord
import pytest
import typer
from discord import app_commands
from pydantic import SecretStr
from typer.testing import CliRunner

from adapters.discord import render as discord_render
from adapters.discord.answering import FrontDesk
from adapters.discord.client import intents
from adapters.discord.commands import DebateCommands, TopicForm
from adapters.discord.render import Payload as DiscordPayload, modal_of
from adapters.discord.rest import Rest
from adapters.discord.translation import Translator
from adapters.discord.venue import DiscordVenue
from adapters.slack import render as slack_render
from adapters.slack.forms.fields import form_of as start_form, form_view, settings_form
from adapters.slack.home import view_of
from adapters.slack.render import Payload as SlackPayload
from adapters.terminal.render import plain
from bot.cli import app
from engine.chat.answers.answers import Answer, to_markdown
from engine.chat.answers.catalogue import ModelsAnswer
from engine.chat.answers.debates import DebateLine
from engine.chat.answers.management import SettingLine, SettingsAnswer
from engine.chat.following import HomePage, LiveLine
from engine.formats import FORMATS
from engine.jury.ballot import ballot_schema
from engine.jury.explain import explain
from engine.jury.rubric import ANSWERS, DEBATE
from engine.prompts.library import load_prompts
from engine.store.community import SETTING_NAMES
from engine.values.debate import Model, Sampling, Status
from engine.values.language import ENGLISH, speaking
from engine.values.messages import File, Message
from engine.values.ports import AnswerSchema, CallRole, ChatMessage, Reply
from engine.words.buttons import ButtonAction
from engine.words.forms import form_of
from engine.words.translation import LANGUAGES
from tests.contract.test_every_message import messages
from tests.doubles.rehearsed import RehearsedDesk, hold, setup_for
from tests.doubles.whole_debate import DEFAULTS
from tests.kit import make_debate
from tests.unit.test_answers_languages import answers
from tests.unit.test_explain import PROMPTS, case_of
from tests.unit.text_cases import text_cases

KEPT = Path(__file__).parents[1] / "recorded" / "texts"
MOST_SHOWN, LONGEST_LINE = 80, 100  # lines of a difference, characters of a line of JSON
SPOKEN = (ENGLISH, *LANGUAGES)
STEM = "k7f2qz·1"
LONGEST_FILE = 400  # characters; of a longer one its digest is recorded


# --- how texts are written down ------------------------------------------------------------


def written(value: Any, margin: str = "") -> str:
    """Return a value as an outline: what is short as JSON, texts as their lines after a bar."""
    short = json.dumps(value, ensure_ascii=False)
    match value:
        case _ if len(short) < LONGEST_LINE and "\\n" not in short:
            return f" {short}"
        case str():
            return "".join(f"\n{margin}|{line and ' '}{line}" for line in value.split("\n"))
        case dict():
            deeper = f"{margin}  "
            return "".join(f"\n{margin}{n}:{written(one, deeper)}" for n, one in value.items())
        case _:
            return "".join(f"\n{margin}-{written(one, f'{margin}  ')}" for one in value)


def _file(file: File) -> dict[str, str]:
    content = file.content
    if len(content) > LONGEST_FILE:
        content = digest(content)
    return {"name": file.name, "alt": file.alt, "content": content}


def digest(text: str) -> str:
    """Return what stands for a long text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


# --- what people read ----------------------------------------------------------------------


def help_of_commands() -> str:
    """Return the help of every command of the shell."""
    runner = CliRunner()

    def helped(command: Any, path: tuple[str, ...]) -> Iterator[str]:
        yield runner.invoke(app, [*path, "--help"], terminal_width=80, prog_name="rostrum").stdout
        for name in command.list_commands(None) if hasattr(command, "list_commands") else ():
            yield from helped(command.get_command(None, name), (*path, name))

    return "\n".join(helped(typer.main.get_command(app), ()))


def said_in_answers() -> str:
    """Return every answer, with its buttons and its picture."""
    return written(
        [
            {type(answer).__name__: to_markdown(answer)}
            | ({"buttons": [str(one) for one in answer.buttons()]} if answer.buttons() else {})
            | ({"picture": _file(picture)} if (picture := answer.picture()) else {})
            for answer in answers()
        ]
    )


def said_in_messages() -> str:
    """Return every message as each platform shows it."""
    return written(
        [
            {
                message.kind: plain(message, f"{STEM}·1/1"),
                "discord": [
                    payload.body | {"files": list(map(_file, payload.files))}
                    for payload in map(DiscordPayload.of, discord_render.parts(message, STEM))
                ],
                "slack": [
                    payload._asdict() | {"files": list(map(_file, payload.files))}
                    for payload in map(SlackPayload.of, slack_render.parts(message, STEM))
                ],
            }
            for message in messages()
        ]
    )


def said_in_cases() -> str:
    """Return the texts of each case."""

    def say(text: Answer | Message | str) -> str:
        if isinstance(text, str):
            return text
        return to_markdown(text) if isinstance(text, Answer) else plain(text, f"{STEM}·1/1")

    return written({name: list(map(say, texts)) for name, texts in text_cases().items()})


def forms() -> str:
    """Return every form and view of Discord and Slack."""
    names = ("language", "models", "channels", "quorum")
    own = {"language": "de", "models": "near/ana, near/ben", "channels": "C1", "quorum": "3"}
    plainly = tuple(SettingLine(name=name, value="", own=False) for name in SETTING_NAMES)
    changed = tuple(
        SettingLine(name=one.name, value=own.get(one.name, "x"), own=one.name in names)
        for one in plainly
    )
    offered = ModelsAnswer(models=("near/ana", "near/ben"), jurors=("near/j1",))
    debate = DebateLine.of(make_debate(1, Status.VOTING, topic="Thé"))
    placed = debate.model_copy(update={"thread": "T1:C1/17.5"})
    live = (LiveLine(debate=debate, minutes=5), LiveLine(debate=placed, minutes=None))
    nobody: Any = None
    asked = TopicForm(nobody, {}).to_dict() | {"custom_id": "drawn anew each time"}
    opened = [form_of(ButtonAction(what, of)) for what, of in OPENED]
    return written(
        {
            "discord": [asked, *(modal_of(f).to_dict() for f in opened)],
            "slack": [
                start_form(offered),
                start_form(offered, 3, "Thé"),
                settings_form(SettingsAnswer(settings=plainly), DEFAULTS),
                settings_form(SettingsAnswer(settings=changed), DEFAULTS),
                *map(form_view, opened),
                view_of(HomePage(live=live, more=True, manager=True), "https://bay.slack.com/"),
                view_of(HomePage(live=(), out=True), "https://bay.slack.com/"),
                view_of(HomePage(live=(), forgotten=True), "https://bay.slack.com/"),
            ],
        }
    )


OPENED = (("ask", "k7f2qz"), ("unask", "k7f2qz"), ("write", "k7f2qz.0"), ("write", "k7f2qz.300"))


async def discord_commands() -> str:
    """Return what Discord is told of the commands, in all languages."""
    nobody: Any = None
    rest = Rest(SecretStr("x"), "http://127.0.0.1:1")
    tree = app_commands.CommandTree(discord.Client(intents=intents()))
    tree.add_command(DebateCommands(FrontDesk(nobody, nobody, DiscordVenue(rest))))
    await tree.set_translator(Translator())
    assert tree.translator is not None
    (command,) = tree.get_commands()
    return written(await command.get_translated_payload(tree, tree.translator))


# --- what models read ----------------------------------------------------------------------


class AskedDesk(RehearsedDesk):
    """Keeps the schema of each answer, and puts few words into a speaker's mouth."""

    def __init__(self) -> None:
        super().__init__()
        self.schemas = dict[str, AnswerSchema]()

    async def call(
        self,
        step: str,
        model: Model,
        messages: Sequence[ChatMessage],
        sampling: Sampling,
        *,
        schema: AnswerSchema | None = None,
        cue: Mapping[str, str] | None = None,
        role: CallRole = "debater",
    ) -> Reply:
        """Answer as a rehearsal model where a structure is asked for."""
        if schema is not None:
            self.schemas[step] = schema
        self.twist = lambda step: f"Said at {step}." if schema is None else None
        return await super().call(
            step, model, messages, sampling, schema=schema, cue=cue, role=role
        )


async def prompts_of(format: str, **asked: Any) -> str:
    """Return what every model of a debate is asked, and the shape of its answer.

    Paragraphs that were told before are their digest.
    """
    desk, told = AskedDesk(), set[str]()
    await hold(setup_for(format, conditions="Only in Türkiye", **asked), desk)

    def once(text: str) -> str:
        """Return a text without what was told before."""
        paragraphs, shown = text.split("\n\n"), list[str]()
        for before, run in groupby(paragraphs, key=told.__contains__):
            said = "\n\n".join(run)
            shown.append(f"= {digest(said)}" if before and len(said) > LONGEST_LINE else said)
        told.update(paragraphs)
        return "\n\n".join(shown)

    shown = dict[str, dict[str, str]]()
    for step, asked_for in sorted(desk.asked.items()):
        shown[step] = {f"{at} {one.role}": once(one.content) for at, one in enumerate(asked_for)}
        if form := desk.schemas.get(step):
            shown[step]["answer"] = once(written(form.json_schema))
    return written(shown)


async def prompts_of_juries() -> str:
    """Return what jurors are asked, and the shape of their answers."""
    library, names = load_prompts(), ("Heron", "Plover")
    told = SimpleNamespace(asked=list[Any]())

    async def call(*asked: Any, **also: Any) -> Reply:
        told.asked.append((asked, also))
        return Reply(text="{}", finish="stop", model="m")

    told.call = call
    await explain(case_of(), PROMPTS, told)
    ((_, _, explained, _), also) = told.asked[0]
    return written(
        {
            name: {
                "system": library.render(
                    "jury/system", criteria=rubric.criteria, answers=rubric is ANSWERS
                ),
                "ballot": library.render(
                    "jury/ballot",
                    names=names,
                    criteria=rubric.criteria,
                    language="Turkish (tr)",
                    tie_word="beraberlik",
                    answers=rubric is ANSWERS,
                ),
                "schema": ballot_schema(names, rubric).json_schema,
            }
            for name, rubric in (("debate", DEBATE), ("answers", ANSWERS))
        }
        | {
            "retry": library.render("jury/retry", problem="the verdict is no name", answers=False),
            "why": [{one.role: one.content} for one in explained],
            "why schema": also["schema"].json_schema,
        }
    )


# --- what is recorded ----------------------------------------------------------------------

OPTIONS: dict[str, dict[str, Any]] = {
    "roundtable": {"options": {"judges": 1}},
    "team": {"limits": {"free_minutes": 1.2}},
}
TOLD: dict[str, Callable[[], str]] = {
    "answers": said_in_answers,
    "messages": said_in_messages,
    "cases": said_in_cases,
    "forms": forms,
}


async def text_of(name: str) -> str:
    """Return the text that a file records."""
    room, _, part = name.partition("-")
    made: str | Awaitable[str]
    if room == "help":
        return help_of_commands()
    if room == "commands":
        return await discord_commands()
    if room == "prompts":
        made = prompts_of_juries() if part == "jury" else prompts_of(part, **OPTIONS.get(part, {}))
        return await made
    with speaking(part):
        return TOLD[room]()


NAMES = (
    "help",
    "commands-discord",
    *(f"{room}-{language}" for room in TOLD for language in SPOKEN),
    *(f"prompts-{format}" for format in (*FORMATS, "jury")),
)


@pytest.mark.parametrize("name", NAMES)
async def test_texts_are_what_was_recorded(name: str, pytestconfig: pytest.Config) -> None:
    kept, found = KEPT / f"{name}.txt", f"{(await text_of(name)).strip()}\n"
    if pytestconfig.getoption("record"):
        kept.write_text(found, "utf-8")
    was, now = (text.split("\n") for text in (kept.read_text("utf-8"), found))
    differ = list(islice(unified_diff(was, now, "recorded", "now", lineterm=""), MOST_SHOWN))
    assert not differ, f"{name} differs; `make record` if it should:\n" + "\n".join(differ)


def test_no_file_is_recorded_for_nothing() -> None:
    assert {file.stem for file in KEPT.iterdir()} == set(NAMES)
