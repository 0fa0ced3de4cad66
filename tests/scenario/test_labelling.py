"""Labels given on pages or in other tools: what becomes of them in exports and reports."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from math import log
from pathlib import Path
from typing import Any

import orjson
import pytest

from adapters.database.database import SqlDatabase
from bot.research.labels import OF_MANAGERS
from engine.dataset.entry import LabelSource
from engine.dataset.label_files import read_labels
from engine.dataset.tables import ExportRequest
from engine.dataset.writer import export
from engine.labelling.sheet import SheetAnswer
from engine.labelling.tasks import Labelling
from engine.stats.agreement import measure_agreement
from engine.stats.row import work_out
from engine.store import ExportFilter, Store
from engine.store.labels import Annotator, Terms
from engine.values.errors import UsageError
from engine.values.verdicts import Question
from engine.votes.imported import Imported, ImportedLabel, LabelFault, import_labels
from tests.doubles.command import rostrum
from tests.kit import NOON, FixedClock, record_of, some
from tests.scenario.test_export import hold_debate, write
from tests.unit.test_dataset_export import table

MODELS = ("--a", "rehearsal/maple", "--b", "rehearsal/willow")


async def joined(labelling: Labelling, participant: str) -> Annotator:
    (link,) = await labelling.invite("tea", people=9)
    return some((await labelling.join(link, participant, participant))[1])


async def answer_all(labelling: Labelling, person: Annotator, said: Mapping[str, str]) -> None:
    """Answer every sheet by its debate, wherever a side stands; the comment mentions somebody."""
    while (sheet := await labelling.next(person.key)) is not None:
        assert isinstance(labelling.clock, FixedClock)
        labelling.clock.pass_seconds(60)
        drawn = some(await labelling.store.labelling.sheet(person.key, sheet.id))
        option = said[drawn.debate]
        given = {
            "option": ("first", "second")[drawn.order.index(option)] if option in "AB" else option,
            "comment": "As <@123456789012345678> says.",
            "confidence": "clear",
            "thumbs": {1: True},
        }
        assert (
            await labelling.save(person.key, sheet.id, SheetAnswer.model_validate(given))
            == "stored"
        )


@pytest.mark.postgresql
async def test_labels_are_exported_beside_the_chats_votes_and_counted_apart(
    store: Store, tmp_path: Path
) -> None:
    held = [await hold_debate(store, number) for number in (1, 2)]
    labelling = Labelling(store, FixedClock(NOON))
    await write(store, tmp_path / "before")
    everything = ExportFilter(ids=(*held,))
    await labelling.create(Terms(name="tea", parameter="PID", repeats=0), everything)
    for participant in ("CANARY-1", "CANARY-2", "CANARY-3"):
        await answer_all(labelling, await joined(labelling, participant), dict.fromkeys(held, "B"))
    await export(store, tmp_path / "out", ExportRequest(), None, version="1.2.3")
    before = {row["debate_id"]: row for row in table(tmp_path / "before", "debates")}
    for row in table(tmp_path / "out", "debates"):
        assert (row["web_winner"], row["web_n"], row["web_gold_b"]) == ("B", 3, 3)
        web = {name for name in row if name.startswith("web_")}
        assert {k: v for k, v in row.items() if k not in web} == {
            k: v for k, v in before[row["debate_id"]].items() if k not in web
        }
    rows = [row for row in table(tmp_path / "out", "votes") if row["platform"] == "web"]
    assert len(rows) == 6
    for row in rows:
        assert (row["phase"], row["option"], row["gold"], row["fast"]) == (
            "label",
            "B",
            True,
            False,
        )
        assert (row["task"], row["seconds"], row["confidence"]) == ("tea", 60.0, "clear")
        assert (row["comment"], row["p_majority"]) == ("As [mention] says.", None)
    assert {row["order"] for row in rows} <= {"AB", "BA"}
    assert len({row["voter"] for row in rows}) == 3
    assert {row["order"] for row in table(tmp_path / "before", "votes")} == {None}
    [turn, *_] = table(tmp_path / "out", "turns")
    assert (turn["web_thumbs_up"], turn["thumbs_up"]) == (3, None)
    # Nobody's id from a recruiting platform leaves the installation.
    files = (path for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert b"CANARY-" not in b"".join(path.read_bytes() for path in files)
    agreement = await work_out(store.archive, ExportFilter(), measure_agreement)
    crowds = agreement.crowds
    assert {one.platform: one.alike.n for one in crowds.platforms} == {"discord": 2, "web": 2}
    first = crowds.between[0]
    assert (first.first, first.second, first.agreement.n) == ("chat", "web", 2)
    report = await labelling.report("tea", pay=0.5)
    assert (report.labels, report.wanted, report.complete, report.gold) == (6, 6, 2, 6)
    assert [one.others.value for one in report.people] == [1.0] * 3
    assert (report.first.n, report.hard, report.cost.pay) == (6, (), 3.0)
    assert "CANARY-" not in report.model_dump_json()


CHAT = {1: "AAAAAB", 2: "A", 3: "", 4: "AAABB", 5: "", 6: "BBBBA"}  # the first is the starter's
SAID = {1: "BBB", 2: "BBA", 3: "AAB", 4: "AAA", 5: ["A", "B", "weak"], 6: "BBB"}
# Counted by hand: (debate, side chosen, gold votes for it, against it).
BY_CHAT = {(1, "A", 4, 1), (6, "B", 3, 1)}
BY_LABELS = {(1, "B", 3, 0), (2, "B", 2, 1), (3, "A", 2, 1), (4, "A", 3, 0), (6, "B", 3, 0)}
# In debate 4 the chat decided on a tie, and in 5 nobody decided.
BY_BOTH = BY_CHAT | {pair for pair in BY_LABELS if pair[0] in (2, 3)}


async def test_pairs_of_cases_come_from_chat_labels_or_labels_where_the_chat_has_no_winner(
    store: Store, tmp_path: Path
) -> None:
    ids = {n: await hold_debate(store, n, votes=votes, turns=2) for n, votes in CHAT.items()}
    labelling = Labelling(store, FixedClock(NOON))
    await labelling.create(Terms(name="tea", parameter="PID", repeats=0))
    for at, participant in enumerate(("ann", "bob", "cleo")):
        said = {ids[n]: SAID[n][at] for n in ids}
        await answer_all(labelling, await joined(labelling, participant), said)

    async def pairs(by: LabelSource) -> set[tuple[str, str, str, float]]:
        await export(store, tmp_path / by, ExportRequest(labels=by), None, version="1.2.3")
        rows = table(tmp_path / by, "preference")
        assert all(row["rejected_side"] != row["chosen_side"] for row in rows)
        found = {
            (row["debate_id"], row["chosen_side"], row["labels"], round(row["margin"], 6))
            for row in rows
        }
        assert len(found) == len(rows)
        return found

    def expected(counted: set[tuple[int, str, int, int]]) -> set[tuple[str, str, str, float]]:
        return {
            (
                ids[n],
                side,
                "chat" if (n, side, more, fewer) in BY_CHAT else "web",
                round(log((more + 0.5) / (fewer + 0.5)), 6),
            )
            for n, side, more, fewer in counted
        }

    assert await pairs("chat") == expected(BY_CHAT)
    assert await pairs("web") == expected(BY_LABELS)
    assert await pairs("both") == expected(BY_BOTH)
    # The jury gave every debate to A by 0.8, so the unclear ones are those whose people did not.
    await labelling.create(Terms(name="unclear", disagreement=True))
    unclear = [one.debate for one in await store.labelling.queue("unclear")]
    assert unclear == [ids[6], ids[4]]
    report = await labelling.report("tea")
    assert (report.labels, report.complete, report.gold) == (18, 6, 18)
    assert [one.debate for one in report.hard] == [ids[5], ids[2], ids[3]]
    assert report.hard[0].labels == {"A": 1, "B": 1, "tie": 1}
    assert [one.agreement for one in report.hard] == pytest.approx([0, 1 / 3, 1 / 3])


def refused(folder: Path, *words: str) -> str:
    ended = rostrum(folder, *words)
    assert ended.code
    return ended.failed(ended.code)


@pytest.mark.slow
def test_an_operator_makes_a_task_invites_and_reports(tmp_path: Path) -> None:
    rostrum(tmp_path, "debate", "Is tea better?", *MODELS, "--votes", "A=2,B=1").done()
    nothing = refused(tmp_path, "label", "create", "tea")
    assert "no debate to label" in nothing
    assert "--include-rehearsal adds them" in nothing
    assert "“foo”; write discord or slack" in refused(
        *(tmp_path, "label", "create", "tea", "--include-rehearsal", "--sign-in", "foo")
    )
    made = rostrum(
        *(tmp_path, "label", "create", "tea", "--include-rehearsal", "--each", "3"),
        *("--code", "DONE-7", "--json"),
    ).done()
    task = json.loads(made)
    assert (task["name"], task["debates"], task["code"]) == ("tea", 1, "DONE-7")
    assert "seed" not in task
    links = json.loads(rostrum(tmp_path, "label", "invite", "tea", "-n", "2", "--json").done())
    assert len({link.partition("?t=")[2] for link in links}) == 2
    asked = {"ROSTRUM_WEB__URL": "https://debates.example.com/", "ROSTRUM_WEB__PORT": "8081"}
    link = rostrum(tmp_path, "label", "invite", "tea", **asked).out
    assert link.startswith("https://debates.example.com/label/tea?t=")
    for pay in ("nan", "-1"):
        assert "--pay is" in refused(tmp_path, "label", "report", "tea", "--pay", pay)
    report = json.loads(rostrum(tmp_path, "label", "report", "tea", "--pay", "1", "--json").done())
    assert (report["labels"], report["wanted"], report["open"]) == (0, 3, True)
    assert "0 of 3 labels" in rostrum(tmp_path, "label", "report", "tea").done()
    rostrum(tmp_path, "label", "close", "tea").done()
    assert "closed" in rostrum(tmp_path, "label", "list").done()
    assert json.loads(rostrum(tmp_path, "label", "list", "--json").done())[0]["closed_at"]
    assert "no labelling task none" in refused(tmp_path, "label", "report", "none")
    assert "already" in refused(tmp_path, "label", "create", "tea", "--include-rehearsal")
    assert "closed" in refused(tmp_path, "label", "invite", "tea")
    create = (tmp_path, "label", "create")
    assert "write a share from 0 to 0.5" in refused(*create, "x", "--repeats", "2")
    assert "The name is “Au tumn”; write small letters" in refused(*create, "Au tumn")
    assert "a whole number from 1" in refused(*create, "x", "--per-debate", "0")
    (tmp_path / "binary").write_bytes(b"\x8b\xff")
    for about, why in (("none", "No such file"), ("binary", "save it as UTF-8 text")):
        assert f"cannot read {about}: {why}" in refused(*create, "x", "--about", about)


async def test_a_manager_gets_a_link_on_the_command_line(tmp_path: Path) -> None:
    assert "set ROSTRUM_WEB__URL" in refused(tmp_path, "label", "page")
    rostrum(tmp_path, "migrate").done()
    asked = {"ROSTRUM_WEB__URL": "https://debates.example.com", "ROSTRUM_WEB__PORT": "8081"}
    printed = rostrum(tmp_path, "label", "page", **asked)
    assert printed.code == 0
    start, _, token = printed.out.strip().partition("?k=")
    assert start == "https://debates.example.com/labels/enter"
    assert "once, for 10 minutes" in printed.err
    database = SqlDatabase(f"sqlite+aiosqlite:///{tmp_path / 'rostrum.db'}")
    installs, now = Store(database).installs, datetime.now(UTC)
    kept = f"{OF_MANAGERS}{token}"
    assert not await installs.redeem(token, now)  # as the state of an installation is
    assert not await installs.redeem(kept, now + timedelta(minutes=11))
    assert [await installs.redeem(kept, now) for _ in range(2)] == [True, False]
    await database.close()


NOW = datetime(2026, 4, 1, tzinfo=UTC)


async def export_tasks(store: Store, out: Path, layout: str) -> dict[str, dict[str, Any]]:
    await export(store, out, ExportRequest(layout=layout), None, version="1")
    return read_tasks(out)


def read_tasks(out: Path) -> dict[str, dict[str, Any]]:
    files = sorted({*out.glob("data/*/records.json"), *out.glob("data/*.json")})
    tasks = [task for file in files for task in orjson.loads(file.read_bytes())]
    return {(task.get("metadata") or task["data"])["debate_id"]: task for task in tasks}


def as_answered(task: dict[str, Any], meant: str) -> str:
    order = (task.get("metadata") or task["data"])["order"]
    return {order[0]: "first", order[1]: "second"}.get(meant, meant)


async def bring(store: Store, rows: Any, *, blind: bool = False) -> Imported:
    content = rows if isinstance(rows, bytes) else orjson.dumps(rows)
    tool, read = read_labels(content)
    return await import_labels(store, read, tool, NOW, blind=blind)


async def test_argillas_answers_are_votes_of_the_right_side_and_only_once(
    store: Store, tmp_path: Path
) -> None:
    held = [await hold_debate(store, number) for number in (1, 2, 3, 4)]
    tasks = await export_tasks(store, tmp_path / "tasks", "argilla")
    assert set(tasks) == set(held)
    orders = {task["metadata"]["order"] for task in tasks.values()}
    assert orders == {"AB", "BA"}
    answered = [
        task
        | {
            "responses": {
                "winner": [
                    {"value": as_answered(task, side), "user_id": f"CANARY-{n}"}
                    for n, side in enumerate(("B", "B", "tie"))
                ]
            }
        }
        for task in tasks.values()
    ]
    found = await bring(store, answered)
    assert (found.outcomes, found.debates, found.people) == ({"new": 12}, 4, 3)
    assert found.faults == ()
    again = await bring(store, answered)
    assert again.outcomes == {"same": 12}
    await write(store, tmp_path / "out")
    votes = table(tmp_path / "out", "votes")
    brought = [row for row in votes if row["platform"] == "import"]
    assert len(brought) == 12
    assert len({row["voter"] for row in brought}) == 3
    for row in brought:
        assert (row["phase"], row["recovery"]) == ("imported", "imported")
        assert (row["gold"], row["reason"]) == (False, "imported")
    assert [row["option"] for row in brought].count("B") == 8
    for debate in table(tmp_path / "out", "debates"):
        assert (debate["n_b"], debate["gold_b"], debate["human_winner"]) == (3, 1, "A")
    assert b"CANARY-" not in b"".join(
        path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()
    )
    blind = await bring(store, answered, blind=True)
    assert blind.outcomes == {"changed": 12}
    await write(store, tmp_path / "out")
    for debate in table(tmp_path / "out", "debates"):
        assert (debate["gold_a"], debate["gold_b"], debate["gold_tie"]) == (4, 3, 1)


async def test_label_studios_annotations_come_back(store: Store, tmp_path: Path) -> None:
    held = await hold_debate(store, 1)
    ((_, task),) = (await export_tasks(store, tmp_path / "tasks", "label-studio")).items()

    def annotate(user: Any, answer: str, **more: Any) -> dict[str, Any]:
        value = {"choices": [answer]}
        result = {"from_name": "winner", "to_name": "debate", "type": "choices", "value": value}
        return {"completed_by": user, "result": [result], "created_at": "2026-03-09T10:00Z", **more}

    answer = as_answered(task, "B")
    annotations = [
        annotate(1, answer),
        annotate({"id": 2, "email": "canary@example.org"}, "weak"),
        annotate(3, answer, was_cancelled=True),
    ]
    found = await bring(store, [task | {"id": 7, "annotations": annotations}])
    assert (found.outcomes, found.faults) == ({"new": 2}, ())
    flat = {"annotator": 1, "winner": "tie", **task["data"], "annotation_id": 5}
    del flat["debate"]
    # The same person, in the tool's short form, thinks otherwise now.
    csv = ",".join(flat) + "\n" + ",".join(map(str, flat.values())) + "\n"
    for content in ([flat], csv.encode()):
        await bring(store, content)

    votes = (await record_of(store, held)).asked(Question.VOTE)
    imported = sorted(one.option for one in votes if one.recovery == "imported")
    assert imported == ["tie", "weak"]
    # It is data of that person, who can have it forgotten.
    await store.privacy.forget("import", "label-studio:1")
    gone = await bring(store, [flat])
    assert gone.faults == (LabelFault(1, "its person asked to be forgotten"),)


async def test_each_bad_line_is_said_with_its_number_and_the_others_count(store: Store) -> None:
    held = await hold_debate(store, 1)
    good = {"debate_id": held, "order": "BA", "winner": "first", "voter": "ann"}
    lines = [
        good,
        good | {"winner": "A"},
        good | {"order": "AC"},
        good | {"debate_id": "01J00000000000000000000000"},
        {**good, "winner": {"choices": ["first", "tie"]}},
        {**good, "voter": ""},
        {"winner": "first"},
    ]
    text = b"\n".join([*(orjson.dumps(line) for line in lines), b"{ no", b""])
    found = await bring(store, text)
    assert found.outcomes == {"new": 1}
    problems = {fault.number: fault.problem for fault in found.faults}
    assert list(problems) == [2, 3, 4, 5, 6, 7, 8]
    for number, word in enumerate(
        ("no answer", "no order", "no debate", "no one answer", "who gave", "no debate_id", "JSON"),
        start=2,
    ):
        assert word in problems[number]


def test_a_file_of_another_kind_is_refused_and_an_empty_one_is_said_to_be_empty() -> None:
    for content in (b"[1, 2", b"a,b\n1,2\n", b"\xff\xfe"):
        with pytest.raises(UsageError):
            read_labels(content)
    for content in (b"", b"\n"):
        with pytest.raises(UsageError, match="The file is empty; export labels as JSON or CSV"):
            read_labels(content)


def test_times_and_orders_are_read_as_they_were_written() -> None:
    row = {"debate_id": "X", "order": "AB", "winner": "tie", "voter": 5}
    stamped = row | {"created_at": "2026-03-01T13:00:30+01:00"}
    (_, (one, other)) = read_labels(orjson.dumps([row, stamped]))
    assert one == ImportedLabel(1, "X", "AB", "tie", "5", None)
    assert other == ImportedLabel(2, "X", "AB", "tie", "5", NOON)
