"""How sure people are, in percent: by a form of a chat, at a keyboard, on a page, and exported."""

import re
import sqlite3
from contextlib import closing

import pytest

from engine.values.debate import ConfidenceScale
from engine.values.verdicts import Question
from tests.doubles.archive import export_rows
from tests.doubles.whole_debate import DEFAULTS
from tests.kit import until
from tests.scenario import test_label_pages
from tests.scenario.chat_stage import Chat, OnDiscord, Private, close, vote
from tests.scenario.discord_stage import known, voting
from tests.scenario.terminal_stage import Shell, seated
from tests.scenario.test_label_pages import Office, answer, office
from tests.scenario.test_remarks import kept
from tests.scenario.test_terminal_debate import QUICK, TOPIC, shell

__all__ = ["office", "shell"]  # fixtures

BAD = ("-3", "101", "abc", "50.5", "  ", "٧٠", "７０", "1e2")
BUTTON = "Say how sure you are"


@pytest.fixture(autouse=True)
def in_percent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold the debates of label pages so."""
    asked = DEFAULTS.model_copy(update={"confidence": ConfidenceScale.PERCENT})
    monkeypatch.setattr(test_label_pages, "DEFAULTS", asked)


async def opened(chat: Chat, user: str, ballot: str, code: str) -> Private:
    """Open what a voter may say in private, by the button below the vote."""
    if isinstance(chat, OnDiscord):
        asked = await chat.discord.press(user, ballot, f"rostrum:remark:{code}").finished()
        return Private(asked.text, {}, asked.messages[0])
    shown = await chat.slack.press(user, ballot, BUTTON)
    await until(lambda: shown.messages)
    return Private(shown.messages[-1].text, {}, shown.messages[-1])


async def say(chat: Chat, user: str, below: Private, code: str, percent: str) -> str:
    """Fill in the form of a private message; return the answer."""
    button = f"rostrum:sure:{code}.en"
    if isinstance(chat, OnDiscord):
        asked = chat.discord.press(user, below.message, button)
        await until(lambda: asked.modal)
        return (await chat.discord.submit_modal(asked, {"percent": percent}).finished()).text
    shown = await chat.slack.choose(user, below.message, button)
    await until(lambda: shown.view)
    submitted = await chat.slack.submit(shown, {"percent": percent})
    return "\n".join(submitted.errors.values()) or await shown.said()


async def test_a_voter_gives_a_percent_in_a_form_which_is_exported_raw(chat: Chat) -> None:
    async with chat.stage.process() as app:
        ballot = await vote(chat, confidence="percent")
        debate = await voting(app)
        await chat.react("ben", ballot, "A")
        await chat.react("cleo", ballot, "B")
        await known(app, 2)
        below = await opened(chat, "ben", ballot, debate.code)
        assert (
            "How likely is it, from 0 to 100 %, that most others choose as you did?" in below.text
        )
        assert "How clear was it?" not in below.text
        for bad in BAD:
            said = await say(chat, "ben", below, debate.code, bad)
            assert "a whole number from 0 to 100" in said, said
            assert said.count(".") - said.count("50.5") == 2, said
        assert len(await app.store.votes.events(debate.id)) == 2
        assert "**How sure:** 7 %" in (await say(chat, "ben", below, debate.code, "007"))
        assert "80 %" in await say(chat, "ben", below, debate.code, " 80 % ")
        refused = await say(chat, "olga", below, debate.code, "50")
        assert "Vote first" in refused
        await known(app, 2, Question.CONFIDENCE)
        await close(chat)
        await chat.ended(app)
        record = await kept(app, debate)
    votes = record.asked(Question.VOTE)
    assert sorted((one.option, one.confidence) for one in votes) == [("A", "80"), ("B", "")]
    rows = {row["option"]: row for row in export_rows("votes", record)}
    assert [rows["A"][name] for name in ("confidence", "confidence_percent")] == [None, 80]
    assert [rows["B"][name] for name in ("confidence", "confidence_percent")] == [None, None]


def stored(database: object) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(str(database))) as opened_database:
        return opened_database.execute(
            "SELECT json_extract(body, '$.option'), json_extract(body, '$.confidence') FROM votes "
            "WHERE question = 'vote' ORDER BY person"
        ).fetchall()


def test_percents_are_given_as_options(shell: Shell) -> None:
    given = ("--votes", "A=2,B=1", "--confidence", "percent", "--sure", "80=1,55=2")
    code, _, err = shell.run("debate", TOPIC, *QUICK, *given)
    assert (code, err) == (0, "")
    assert stored(shell.database) == [("A", "80"), ("A", "55"), ("B", "55")]
    for wrong in ("101=1", "abc=1", "-3=1", "=1"):
        code, _, err = shell.run("debate", TOPIC, *QUICK, *given[:-1], wrong)
        assert code != 0
        assert "whole number from 0 to 100" in err


@pytest.mark.slow
def test_people_at_the_keyboard_type_a_percent_each(shell: Shell) -> None:
    with seated(shell, "debate", TOPIC, *QUICK, "--confidence", "percent") as seat:
        seat.screen.until_keys()
        seat.screen.press("ABA\n")
        seat.screen.until("from 0 to 100 %, that most others")
        seat.screen.press("101\n")
        seat.screen.until("“101” is not a whole number")
        seat.screen.press("97\x7f0\n")
        seat.screen.until("guest-1: 90")
        seat.screen.press("\n")  # the second does not say
        seat.screen.press("5\n")
        seat.rest()
    assert stored(shell.database) == [("A", "90"), ("B", ""), ("A", "5")]


async def test_an_annotator_gives_a_percent_on_a_page(office: Office) -> None:
    await office.task()
    browser = office.browser()
    page = await browser.join(await office.link())
    assert 'type="number"' in page.text
    assert 'value="one-sided"' not in page.text
    for bad in BAD[:4]:
        no = await browser.post(page.path, **answer(page, confidence=bad))
        assert (no.status, no.path) == (400, page.path)
        assert "How sure you are is a whole number from 0 to 100, such as 70." in no.text
        assert f'value="{bad}"' in no.text
    path = page.path
    await browser.post(path, **answer(page, confidence="70"))
    assert re.search(r'type="number"[^>]* value="70"', (await browser.get(path)).text)
