"""Every text that people and models are shown is what was recorded: tests/recorded/texts.

`make record` renews them, on purpose; the commit that does says what changed and why.
A file has what one room says, and a language where it is said in five.
"""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import redirect_stdout
from difflib import unified_diff
from functools import partial
from io import StringIO
from itertools import groupby, islice, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from adapters.discord import render as discord_render
from adapters.discord.commands import _TopicForm
from adapters.discord.render import DiscordPayload, modal_of
from adapters.slack import render as slack_render
from adapters.slack.fields import form_of as start_form, form_view, settings_form
from adapters.slack.render import SlackPayload
from adapters.slack.views import view_of
from adapters.terminal.render import plain
from bot.cli import app
from bot.record.tables import print_usage, show_debates, show_table
from bot.research.labels import show_report, show_tasks
from bot.research.series_runs import show_series
from bot.settings.files import read_rubric
from engine.blinding.transcript import BlindTurn, Round
from engine.chat.answers import Answer, to_markdown
from engine.chat.answers.catalogue import ModelsAnswer
from engine.chat.answers.debates import DebateLine
from engine.chat.answers.management import SettingLine, SettingsAnswer
from engine.chat.interactions import HomePage
from engine.delivery.reasons import refusal_of
from engine.formats import FORMATS
from engine.jury.ballot import ballot_schema
from engine.jury.explain import explain
from engine.jury.rubric import ANSWERS, CLASSIC_SIX, DEBATE
from engine.prompts import load_prompts
from engine.series.report import make_report
from engine.series.report.page import write_markdown, write_page
from engine.series.report.pictures import draw_report
from engine.series.runner import SeriesProgress
from engine.store.communities import SETTING_NAMES
from engine.store.series import StoredSeries
from engine.store.usage import By, CallUsage
from engine.values.debate import Status
from engine.values.language import ENGLISH, speaking, spoken
from engine.values.messages import File, Message, TurnPost
from engine.values.ports import AnswerSchema, Call, Reply
from engine.words.buttons import ButtonAction, form_of
from engine.words.translation import LANGUAGES
from tests.contract.test_every_message import messages
from tests.doubles.facts import Code
from tests.doubles.rehearsed import RehearsedHost, hold, setup_for
from tests.doubles.whole_debate import DEFAULTS
from tests.kit import NOW, make_debate
from tests.unit.test_answers_languages import answers
from tests.unit.test_discord import told_to_discord
from tests.unit.test_explain import PROMPTS, case_of
from tests.unit.test_init import COLUMNS, JURORS
from tests.unit.test_jury_ballot import OWN
from tests.unit.test_labels import TASK, report, sheet
from tests.unit.test_refusals_in_chats import SLACKS_NAMES, by_discord, by_slack
from tests.unit.test_series_report import make_file, make_series
from tests.unit.test_usage_table import FAR, NEAR
from tests.unit.text_cases import text_cases

KEPT = Path(__file__).parents[1] / "recorded" / "texts"
OPTIONS: dict[str, dict[str, Any]] = {
    "roundtable": {"options": {"judges": 1}},
    "team": {"limits": {"free_minutes": 1.2}},
}
MOST_SHOWN, LONGEST_LINE = 80, 100  # lines of a difference, characters of a line of JSON
STEM = "k7f2qz·1"
LONGEST_FILE = 400  # characters; of a longer one its digest is recorded


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


async def commands_of_discord() -> str:
    return written(await told_to_discord())


def help_of_commands() -> str:
    runner = CliRunner()

    def helped(command: Any, path: tuple[str, ...]) -> Iterator[str]:
        yield runner.invoke(app, [*path, "--help"], terminal_width=80, prog_name="rostrum").stdout
        for name in command.list_commands(None) if hasattr(command, "list_commands") else ():
            yield from helped(command.get_command(None, name), (*path, name))

    return "\n".join(helped(typer.main.get_command(app), ()))


def report_of_a_series() -> str:
    series = make_series(make_file(("near/ana", "near/ben", "near/cid")), people="A")
    report = make_report(series, NOW)
    page = write_markdown(write_page(report), {})
    alts = {name: picture.alt for name, picture in draw_report(report).items()}
    return f"{page}\n\nPictures:{written(alts)}"


class _Terminal(StringIO):
    """What is printed, to a terminal."""

    def isatty(self) -> bool:
        return True


def tables_of_the_shell() -> str:
    """Return every table that commands print, in a narrow, a usual and a wide terminal."""
    long = "Should a city close its whole centre to private cars, day and night, for good?"
    debates = [make_debate(1), make_debate(2, Status.VOTING, topic=long)]
    task = TASK.model_copy(update={"debates": 12, "created_at": NOW})
    work = [sheet(n, f"d{n % 3}", "AB"[n % 2], seconds=30.0 * n) for n in range(1, 9)]
    begun = StoredSeries(name="remote-work-spring-2026", body="{}", usd=35, begun_at=NOW)
    series = [
        (begun, SeriesProgress(total=4320, held=1210, running=20, failed=2, refused=3)),
        (StoredSeries(name="tea", body="{}", begun_at=NOW), SeriesProgress(total=2)),
    ]
    made: dict[str, Callable[[], None]] = {
        "list": lambda: show_debates(debates, {debates[1].id}),
        "usage": lambda: print_usage(CallUsage((NEAR, FAR), 12)),
        "usage by series": lambda: print_usage(CallUsage((NEAR, FAR), 12), By.SERIES),
        "label list": lambda: show_tasks([task]),
        "label report": lambda: show_report(report(work)),
        "stats": lambda: show_table("Jurors", COLUMNS, JURORS),
        "series list": lambda: show_series(series),
    }
    shown = dict[str, dict[int, str]]()
    for name, show in made.items():
        shown[name] = {}
        for width in (60, 80, 120):
            printed = _Terminal()
            with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed):
                patch.setenv("COLUMNS", str(width))
                patch.setenv("NO_COLOR", "1")
                show()
            lines = re.sub(r"\x1b\[[0-9;]*m", "", printed.getvalue()).splitlines()
            shown[name][width] = "\n".join(line.rstrip() for line in lines)
    return written(shown)


def said_in_answers() -> str:
    return written(
        [
            {"text": to_markdown(answer)}
            | ({"buttons": [str(one) for one in answer.buttons()]} if answer.buttons() else {})
            | ({"picture": _file(picture)} if (picture := answer.picture()) else {})
            for answer in answers()
        ]
    )


def said_in_messages() -> str:
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

    def say(text: Answer | Message | str) -> str:
        if isinstance(text, str):
            return text
        return to_markdown(text) if isinstance(text, Answer) else plain(text, f"{STEM}·1/1")

    return written({name: list(map(say, texts)) for name, texts in text_cases().items()})


def refusals() -> str:
    answers = {f"slack {name}": by_slack(name) for name in SLACKS_NAMES}
    answers |= {f"discord {code.name}": by_discord(code) for code in Code}
    return written(
        {
            name: sorted({f"{type(one).__name__}: {refusal_of(one)}" for one in errors})
            for name, errors in answers.items()
        }
    )


def views() -> dict[str, list[dict[str, Any]]]:
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
    live = ((debate, 5), (placed, None))
    nobody: Any = None
    asked = _TopicForm(nobody, {}).to_dict() | {"custom_id": "drawn anew each time"}
    opened = [form_of(ButtonAction(what, of)) for what, of in OPENED]
    return {
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


OPENED = (
    ("ask", "k7f2qz"),
    ("unask", "k7f2qz"),
    ("sure", "k7f2qz"),
    ("write", "k7f2qz.0"),
    ("write", "k7f2qz.300"),
)


class AskedHost(RehearsedHost):
    """Keeps the schema of each answer, and puts few words into a speaker's mouth."""

    def __init__(self) -> None:
        super().__init__()
        self.schemas = dict[str, AnswerSchema]()

    async def call(self, call: Call) -> Reply:
        if call.schema is not None:
            self.schemas[call.step] = call.schema
        self.twist = lambda step: f"Said at {step}." if call.schema is None else None
        return await super().call(call)


async def prompts_of(format: str) -> str:
    """Return what every model of a debate is asked, and the shape of its answer.

    Paragraphs that were told before are their digest.
    """
    host, told = AskedHost(), set[str]()
    await hold(setup_for(format, conditions="Only in Türkiye", **OPTIONS.get(format, {})), host)

    def once(text: str) -> str:
        """Return a text without what was told before."""
        paragraphs, shown = text.split("\n\n"), list[str]()
        for before, run in groupby(paragraphs, key=told.__contains__):
            said = "\n\n".join(run)
            shown.append(f"= {digest(said)}" if before and len(said) > LONGEST_LINE else said)
        told.update(paragraphs)
        return "\n\n".join(shown)

    shown = dict[str, dict[str, str]]()
    for step, asked_for in sorted(host.asked.items()):
        shown[step] = {f"{at} {one.role}": once(one.content) for at, one in enumerate(asked_for)}
        if form := host.schemas.get(step):
            shown[step]["answer"] = once(written(form.json_schema))
    return written(shown)


async def said_by_formats() -> str:
    """Return what each format posts beside speeches, now and after the vote."""
    said = dict[str, list[str]]()
    for name in FORMATS:
        asked = {"language": spoken(), **OPTIONS.get(name, {})}
        host = await hold(setup_for(name, **asked), AskedHost())
        told = [post.message for post in (*host.posts, *host.held)]
        shown = (plain(one, f"{STEM}·1/1") for one in told if not isinstance(one, TurnPost))
        said[name] = [*shown]
    return written(said)


async def prompts_of_juries() -> str:
    library, names = load_prompts(), ("Heron", "Plover")
    rubrics = {
        "debate": DEBATE,
        "answers": ANSWERS,
        "classic six": CLASSIC_SIX,
        "own": read_rubric(OWN, "file"),
    }
    speeches = (BlindTurn("Heron", "spoke first in this round", "Tea."),)
    heard: dict[str, Any] = {"topic": "Why tea?", "conditions": "", "stances": {}}
    heard["rounds"] = (Round("opening", speeches),)
    told = SimpleNamespace(asked=list[Any]())

    async def call(call: Call) -> Reply:
        told.asked.append(call)
        return Reply(text="{}", finish="stop", model="m")

    told.call = call
    await explain(case_of(), PROMPTS, told)
    (explained,) = told.asked
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
            for name, rubric in rubrics.items()
        }
        | {
            f"{part}{of}": library.render(
                f"jury/{part}", problem="the verdict is no name", answers=bool(of), **heard
            )
            for part in ("transcript", "retry")
            for of in ("", " of answers")
        }
        | {
            "why": [{one.role: one.content} for one in explained.messages],
            "why schema": explained.schema.json_schema,
        }
    )


Made = Callable[[], str | Awaitable[str]]
ONCE: dict[str, Made] = {
    "help": help_of_commands,
    "series": report_of_a_series,
    "tables": tables_of_the_shell,
    "commands-discord": commands_of_discord,
    "prompts-jury": prompts_of_juries,
    **{f"prompts-{name}": partial(prompts_of, name) for name in FORMATS},
}
IN_EACH_LANGUAGE: dict[str, Made] = {
    "answers": said_in_answers,
    "messages": said_in_messages,
    "cases": said_in_cases,
    "formats": said_by_formats,
    "forms": lambda: written(views()),
    "refusals": refusals,
}
NAMES = (*ONCE, *map("-".join, product(IN_EACH_LANGUAGE, (ENGLISH, *LANGUAGES))))


@pytest.mark.parametrize("name", NAMES)
async def test_texts_are_what_was_recorded(name: str, pytestconfig: pytest.Config) -> None:
    room, _, language = name.partition("-")
    with speaking(language if room in IN_EACH_LANGUAGE else ENGLISH):
        made = (ONCE.get(name) or IN_EACH_LANGUAGE[room])()
        text = made if isinstance(made, str) else await made
    kept, found = KEPT / f"{name}.txt", f"{text.strip()}\n"
    if pytestconfig.getoption("record"):
        kept.write_text(found, "utf-8")
    was, now = (text.split("\n") for text in (kept.read_text("utf-8"), found))
    differ = list(islice(unified_diff(was, now, "recorded", "now", lineterm=""), MOST_SHOWN))
    assert not differ, f"{name} differs; `make record` if it should:\n" + "\n".join(differ)


def test_no_file_is_recorded_for_nothing() -> None:
    assert {file.stem for file in KEPT.iterdir()} == set(NAMES)
