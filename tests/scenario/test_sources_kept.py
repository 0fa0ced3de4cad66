"""Sources as a debate keeps them: over a resume, under its cap, until they are deleted."""

import pytest

from engine.chat.privacy import forget, purge
from engine.dataset.page import write_html, write_markdown
from engine.pages.stored import StoredLibrary
from engine.prompts import quote
from engine.store.privacy import ERASED
from engine.values.debate import Source, Status
from engine.values.errors import BudgetError
from engine.values.ports import SystemClock
from engine.values.source_files import read_sources
from engine.values.sources import SourceFile, SourceLimits
from engine.words.phrases import sum_up
from tests.doubles import model_server as acts
from tests.doubles.databases import traces
from tests.doubles.model_server import Body
from tests.kit import some
from tests.scenario.conftest import DEFAULTS, NO_CAPS, Running, Stage, play, prompt

ANN = "123456789012345678"
CANARY = "xyzzy-canary"
TEXT = f"Kettles sing at ninety degrees, says <@{ANN}>. {CANARY} <b>**not bold**"
[FILE] = read_sources([SourceFile(name="kettle.md", content=TEXT.encode())], SourceLimits())
LONG = Source(title="long", text=("riders of trams " * 1_200).strip())
QUOTED = "“Kettles sing at ninety degrees” [Source 1] “kettles are silent machines” [Source 1]"


def quoting(body: Body) -> str:
    """Answer well, and quote in every turn but the last."""
    said = play(body)
    return f"{QUOTED}\n\n{said}" if said.startswith("Speech") else said


def system(body: Body) -> str:
    return str(body["messages"][0]["content"])


async def test_a_resumed_debate_reads_the_same_sources(line: Running, stage: Stage) -> None:
    stage.server.script(acts.Act(), acts.status(404), model="ben")
    started = await line.start(sources=(FILE,))
    debate = await line.ended(started.debate.id)
    assert debate.status is Status.FAILED
    before = {system(body) for body in stage.turns_asked}
    await line.service.resume(debate.id, NO_CAPS)
    debate = await line.ended(debate.id)
    assert debate.status is Status.CLOSED, debate.reason
    assert {system(body) for body in stage.turns_asked} == before
    assert len(before) == 1
    assert f"Source 1, by the title of:\n> kettle\nIts text:\n{quote(TEXT)}\n" in before.pop()


async def test_jurors_and_the_summarist_read_what_was_found_and_the_report_says_it(
    line: Running, stage: Stage
) -> None:
    stage.server.respond = quoting
    debate = await line.hold(sources=(FILE,))
    told = "Quotations: 1 found, 1 not in Source 1"
    turns = (await line.store.journal.read(debate.id, "turns")).turns
    assert [sum_up(turn.quotations) for turn in turns].count(told) == 6
    readers = [body for body in stage.server.requests if str(body["model"]).startswith("j")]
    assert len(readers) > 3
    for body in readers:
        read = prompt(body)
        assert read.count("Source 1: not found in Source 1 or any other source\n> kettles are") == 6
        assert CANARY not in read
    page = await StoredLibrary(line.store).report(debate.id)
    for text in (write_markdown(page), write_html(page)):
        assert text.count(told) == 6
        assert "Source 1: kettle" in text
        assert CANARY in text
        assert ANN not in text
        assert "<b>" not in text


async def test_a_cap_that_does_not_cover_the_sources_refuses_at_once(stage: Stage) -> None:
    async with stage.process() as line:
        cheap = await line.start()
        usd = some(cheap.estimate.usd) * 1.5
        caps = NO_CAPS.model_copy(update={"debate_usd": usd})
        capped = DEFAULTS.model_copy(update={"caps": caps})
        asked = len(await line.store.listings.recent())
        with pytest.raises(BudgetError, match="choose cheaper models"):
            await line.start(capped, sources=(LONG,))
        assert len(await line.store.listings.recent()) == asked


async def test_the_estimate_and_what_a_capped_debate_reserves_cover_its_sources(
    line: Running,
) -> None:
    caps = NO_CAPS.model_copy(update={"debate_usd": 5.0})
    capped = DEFAULTS.model_copy(update={"caps": caps})
    without, started = await line.start(capped), await line.start(capped, sources=(LONG,))
    more = started.debate.setup.reserved_usd - without.debate.setup.reserved_usd
    assert more > 2 * 8 * 4_500 / 1e6
    assert started.estimate.tokens_in - without.estimate.tokens_in > 8 * 4_500


async def test_sources_are_forgotten_purged_and_never_logged(
    database_url: str,
    line: Running,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    debate = await line.hold(sources=(FILE,))
    assert traces(database_url, ANN)
    await forget(line.store, SystemClock(), "memory", ANN)
    await line.store.privacy.wipe()
    assert not traces(database_url, ANN)
    debate = await line.store.debates.get(debate.id)
    assert f"says <{ERASED}>." in debate.request.sources[0].text
    await purge(line.store, "memory", "club")
    await line.store.privacy.wipe()
    assert not traces(database_url, CANARY)
    assert CANARY not in caplog.text + "".join(capsys.readouterr())
