"""What `rostrum export` is asked for, as it is typed, and what a real database then yields."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest

from bot.record import exports
from bot.record.filters import ExportChoices
from engine.dataset.folder import FileFormat
from engine.dataset.writer import ExportProgress, ExportRequest, ExportStage, export
from engine.store import ExportFilter, Store
from engine.values.debate import Status
from engine.values.errors import UsageError
from tests.kit import NOON
from tests.scenario.test_export import begin, debate_of, hold_debate, table


async def ids(store: Store, out: Path, **where: object) -> list[str]:
    wanted = ExportRequest(ExportFilter(**where))  # type: ignore[arg-type]
    await export(store, out, wanted, None, version="1")
    return sorted(row["debate_id"] for row in table(out, "debates"))


class TestDatabase:
    async def test_dates_go_by_the_reveal_or_by_when_it_was_asked_for(
        self, store: Store, tmp_path: Path
    ) -> None:
        held = [await hold_debate(store, number) for number in (1, 2, 3)]
        stopped = await begin(store, 4, "Broken off")
        await store.debates.advance(stopped, debate_of(stopped), Status.PARTIAL, "at its cap")
        one, two = NOON + timedelta(hours=1), NOON + timedelta(hours=2)
        assert await ids(store, tmp_path / "a", since=one, until=two) == [held[1]]
        assert await ids(store, tmp_path / "b", since=two) == [held[2]]
        assert await ids(store, tmp_path / "c", until=NOON) == [debate_of(stopped)]

    async def test_newest_and_size_agree_with_what_is_read(self, store: Store) -> None:
        def ask(where: ExportFilter) -> tuple[datetime | None, int]:
            return store.archive.newest(where), store.archive.size(where)

        assert await asyncio.to_thread(ask, ExportFilter()) == (None, 0)
        for number in (1, 2):
            await hold_debate(store, number)
        await begin(store, 3, "Still running")
        newest = NOON + timedelta(hours=2)
        assert await asyncio.to_thread(ask, ExportFilter()) == (newest, 2)
        earlier = ExportFilter(until=NOON + timedelta(hours=1))
        assert await asyncio.to_thread(ask, earlier) == (NOON + timedelta(hours=1), 1)
        assert await asyncio.to_thread(ask, ExportFilter(community="nowhere")) == (None, 0)

    async def test_only_what_people_decided(self, store: Store, tmp_path: Path) -> None:
        held = await hold_debate(store, 1)
        stopped = await begin(store, 2, "Broken off")
        await store.debates.advance(stopped, debate_of(stopped), Status.CANCELLED)
        assert await ids(store, tmp_path / "out", quorum_met=True) == [held]

    async def test_single_debates_are_read_by_id(self, store: Store, tmp_path: Path) -> None:
        held = [await hold_debate(store, number) for number in (1, 2, 3)]
        assert await ids(store, tmp_path / "out", ids=(held[0], held[2])) == [held[0], held[2]]


class Screen(StringIO):
    def isatty(self) -> bool:
        return True


class TestProgress:
    def draw(self, stderr: StringIO, monkeypatch: pytest.MonkeyPatch) -> str:
        monkeypatch.setattr(exports, "PATIENCE_SECONDS", 0.0)
        monkeypatch.setattr("sys.stderr", stderr)
        monkeypatch.setattr(exports, "REDRAW_SECONDS", 0.0)
        with exports._progress() as report:
            report(ExportProgress(ExportStage.LINES, 3, 4))
            report(ExportProgress(ExportStage.MIRRORS, 20, 80))
            report(ExportProgress(ExportStage.PARQUET, 2_000, 5_000))
        return stderr.getvalue()

    def test_a_terminal_shows_how_far_it_is(self, monkeypatch: pytest.MonkeyPatch) -> None:
        shown = self.draw(Screen(), monkeypatch)
        assert shown.index("Exporting") < shown.index("75%")

    def test_it_does_not_stand_still_while_mirrored_pairs_are_written(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shown = self.draw(Screen(), monkeypatch)
        assert shown.index("75%") < shown.index("Pairing mirrored debates") < shown.index("25%")

    def test_it_does_not_stand_still_while_parquet_is_written(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shown = self.draw(Screen(), monkeypatch)
        assert shown.index("75%") < shown.index("Writing Parquet") < shown.index("40%")

    def test_a_pipe_gets_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.draw(StringIO(), monkeypatch) == ""


class TestTyped:
    def test_lists_have_commas_between(self) -> None:
        chosen = ExportChoices(formats="classic, team", languages="en,tr", tables="votes,debates")
        wanted = chosen.wanted()
        assert (wanted.where.formats, wanted.where.languages) == (("classic", "team"), ("en", "tr"))
        assert wanted.tables == ("debates", "votes")
        assert wanted.file_format is FileFormat.JSONL

    def test_nothing_asked_for_is_everything_but_rehearsals(self) -> None:
        assert ExportChoices().wanted() == ExportRequest(ExportFilter(without_rehearsal=True))
        assert ExportChoices(include_rehearsal=True).wanted() == ExportRequest()

    def test_both_dates_are_wholly_in_it(self) -> None:
        where = ExportChoices(since="2026-03-01", until="2026-03-01").wanted().where
        assert where.since is not None
        assert where.until is not None
        first, last = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC)
        assert where.since < first
        assert last - timedelta(seconds=1) < where.until < last

    def test_the_cutoff_of_a_manifest_is_taken_as_it_is(self) -> None:
        where = ExportChoices(since="2026-03-02T12:00:30Z").wanted().where
        assert where.since == datetime(2026, 3, 2, 12, 0, 30, tzinfo=UTC)

    @pytest.mark.each_case
    @pytest.mark.parametrize(
        ("chosen", "told"),
        [
            (
                ExportChoices(file_format="csv"),
                "--format is “csv”; this version writes jsonl or parquet",
            ),
            (
                ExportChoices(since="yesterday"),
                "--since is “yesterday”; write a date such as 2026-03-31",
            ),
            (ExportChoices(until="31.3.2026"), "--until is “31.3.2026”"),
            (
                ExportChoices(tables="votes,voters"),
                "There is no table “voters”; choose from debates",
            ),
            (ExportChoices(formats="classical"), "There is no format “classical”"),
            (ExportChoices(languages="en,in Turkish"), "“in Turkish” is not a language code"),
        ],
        ids=["format", "since", "until", "tables", "debate-format", "language"],
    )
    def test_what_cannot_be_read_is_refused_with_what_to_write(
        self, chosen: ExportChoices, told: str
    ) -> None:
        with pytest.raises(UsageError, match=told):
            chosen.wanted()
