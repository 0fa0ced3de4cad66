"""`rostrum` as a script or an operator meets it: real processes, exit codes, one line of error."""

import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import orjson
import pytest

from tests.doubles.command import Ended, environment_of, printed_by, rostrum
from tests.kit import HANG_SECONDS

TABLES = {"debates": 1, "turns": 8, "verdicts": 6, "votes": 6}
TURN = re.compile(r"(?m)^\[[🔵🔴] ([AB]) · [a-z]+ · turn (\d) of 8\]")
ALL_TURNS = ["A1", "B2", "A3", "B4", "A5", "B6", "A7", "B8"]
LONG_TOPIC = "Cities with good trams should close their centres to private cars for ever"
KEY = "sk-canary-5d1f9c"
NO_DATABASE = "There is no database rostrum.db yet: no debate was held. rostrum debate holds one, "


def contents(folder: Path) -> dict[str, bytes]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


@dataclass(frozen=True, slots=True)
class Errand:
    """A command in a folder of its own, which holds notes that are not Rostrum's."""

    folder: Path
    result: Future[Ended]

    def ended(self) -> Ended:
        return self.result.result(timeout=240)

    def left(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()} - {"notes"}


WRONG: Mapping[str, str] = {
    "bench": "live",
    "frobnicate": "No such command 'frobnicate'",
    "list --colour": "No such option: --colour",
    "export": "Missing option '--out'",
    "show": "Missing argument",
    "list --limit 0": "--limit is “0”; it must be between 1 and 1000000.",
    "debate --rounds many": "--rounds is “many”; write a whole number.",
    "debate --vote-minutes 0": "--vote-minutes is “0”; choose more than 0",
    "export --out x --format jsonl": "for jsonl files write --as jsonl",
    "judge zzzzzz --jurors rehearsal/x --panel foo": "--panel is “foo”; it must be",
    "judge zzzzzz --judges x/y --panel one": "--panel and --usd are for --jurors",
    "judge zzzzzz --judges x/y --usd 3": "--panel and --usd are for --jurors",
    "debate --seed abc": "--seed is “abc”; write a whole number.",
}
ERRANDS: Mapping[str, tuple[str, ...]] = {
    "bench live": ("bench", "live", "--debates", "4", "--over", "0.1", "--seconds", "0.05"),
    "demo": ("demo",),
    "turkish": ("demo", "--language", "tr", "--topic", "Çay kahveden iyidir", "--votes", "B=2"),
    "chinese": ("demo", "--language", "zh", "--out", "中文"),
    "demo over notes": ("demo", "--out", "notes"),
    "demo with odd votes": ("demo", "--votes", "A=3,C=1"),
    "demo of no format": ("demo", "--format", "duel"),
    "demo in no language": ("demo", "--language", "klingon!"),
    "export as a book": ("export", "--out", "x", "--as", "epub"),
    "export of nothing": ("export", "--out", "x"),
    "backup of nothing": ("backup", "--out", "copy.db"),
    "check": ("check",),
    "typo": ("list", "ROSTRUM_MODLES=rehearsal/maple"),
    **{f"wrong: {words}": tuple(words.split()) for words in WRONG},
}


@pytest.fixture(scope="module", autouse=True)
def errands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Errand]]:
    """Start every errand, the longest first; each test waits for its own, the last in the file."""
    started = {}
    with ThreadPoolExecutor(max_workers=2) as pool:
        for name, words in ERRANDS.items():
            folder = tmp_path_factory.mktemp("errand")
            (folder / "notes").mkdir()
            (folder / "notes" / "diary.txt").write_text("Dear diary")
            settings = dict(word.split("=") for word in words if word.startswith("ROSTRUM_"))
            arguments = tuple(word for word in words if not word.startswith("ROSTRUM_"))
            result = pool.submit(rostrum, folder, *arguments, **settings)
            started[name] = Errand(folder, result)
        yield started
        pool.shutdown(cancel_futures=True)


def test_help_is_instant_because_it_loads_nothing_heavy() -> None:
    script = (
        "import sys, time\n"
        "from bot.cli import app\n"
        "sys.argv = ['rostrum', '--help']\n"
        "try:\n    app()\n"
        "finally:\n"
        "    heavy = {'openai', 'sqlalchemy', 'alembic', 'pydantic', 'aiohttp', 'jinja2'}\n"
        "    print(sorted(heavy & set(sys.modules)), time.process_time())\n"
    )
    loaded, seconds = printed_by(script).rsplit("\n", 2)[-2].rsplit(maxsplit=1)
    assert loaded == "[]"
    assert float(seconds) <= 0.4


@pytest.mark.slow
def test_a_debate_loads_nothing_that_it_does_not_need_before_its_first_call() -> None:
    late = ("engine.dataset", "engine.stats", "engine.chat", "openai", "alembic", "aiohttp")
    loaded = printed_by("import sys, bot.local.single; print(*sys.modules)").split()
    assert not {*late} & {*loaded}


@pytest.mark.parametrize(
    ("out", "sentence"),
    [
        (
            "notes",
            "The folder notes contains other files than an export; name an empty or a new one.",
        ),
        (
            "notes/diary.txt/out",
            "The export could not be written to notes/diary.txt/out: Not a directory. Choose "
            "another folder; what was there before is unchanged.",
        ),
    ],
)
def test_a_debate_is_not_held_for_a_folder_that_cannot_be_written(
    tmp_path: Path, out: str, sentence: str
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "diary.txt").write_text("Dear diary")
    refused = rostrum(tmp_path, "debate", "Tea is best", "--votes", "A=1", "--out", out)
    assert refused.failed(2) == sentence
    assert refused.out == ""
    assert [path.name for path in tmp_path.rglob("*")] == ["notes", "diary.txt"]


def test_the_installed_command_says_its_version() -> None:
    command = str(Path(sys.executable).with_name("rostrum"))
    said = subprocess.check_output([command, "--version"], text=True, timeout=HANG_SECONDS)
    assert re.fullmatch(r"rostrum \d+\.\d+\.\d+\n", said)


@dataclass(frozen=True, slots=True)
class Office:
    """A folder whose database holds a finished debate and a failed one."""

    folder: Path
    finished: str
    failed: str
    failure: Ended

    def run(self, *arguments: str, **settings: str) -> Ended:
        return rostrum(self.folder, *arguments, **settings)

    def side_by_side(self, *commands: tuple[str, ...]) -> list[Ended]:
        """Run commands at the same time, as reading ones may be, and return how each ended."""
        with ThreadPoolExecutor() as pool:
            return list(pool.map(lambda arguments: self.run(*arguments), commands))


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Office:
    folder = tmp_path_factory.mktemp("office")
    sides = ("--b", "rehearsal/willow", "--votes", "A=2,B=1", "--seed", "1")
    shown = rostrum(folder, "debate", "Tea is best", "--a", "rehearsal/maple", *sides)
    shown.done()
    failure = rostrum(folder, "debate", LONG_TOPIC, "--a", "rehearsal/maple?fail=401", *sides)
    return Office(folder, shown.debate, failure.debate, failure)


@pytest.fixture(scope="module")
def copy(office: Office) -> Path:
    said = office.run("backup", "--out", "copy.db").done()
    assert re.fullmatch(r"Copied rostrum\.db to copy\.db \([\d,]+ bytes\)\.\n", said)
    return office.folder / "copy.db"


@pytest.mark.slow
def test_a_debate_that_fails_says_why_and_how_to_go_on(office: Office) -> None:
    sentence = office.failure
    assert sentence.code == 1
    assert re.fullmatch(r"rostrum: Backend “rehearsal” refused the key[^\n]*\n", sentence.err)
    assert f"rostrum resume {office.failed}" in sentence.err
    assert "[Warning]" in office.failure.out
    assert "[Reveal]" not in office.failure.out


def test_debates_are_listed_the_newest_first_and_can_be_narrowed(office: Office) -> None:
    states = (("--state", one) for one in ("Closed", "running", "asleep"))
    commands = [("list",), *(("list", *state) for state in states)]
    everything, closed, running, asleep = office.side_by_side(*commands)
    header, *lines = everything.done().splitlines()
    assert header.split()[:2] == ["id", "state"]
    assert [line.split()[:2] for line in lines] == [
        [office.failed, "failed"],
        [office.finished, "closed"],
    ]
    assert LONG_TOPIC[:50] in lines[0]
    assert "Tea is best" in lines[1]
    [_, line] = closed.done().splitlines()
    assert line.split()[0] == office.finished
    assert running.done() == "No debates.\n"
    sentence = asleep.failed(2)
    assert sentence.startswith("--state is “asleep”; it must be one of queued, running,")


def test_show_tells_of_a_debates_state_money_and_steps(office: Office) -> None:
    finished, failed, unknown, judged = office.side_by_side(
        ("show", office.finished),
        ("show", office.failed),
        ("show", "zzzzzz"),
        ("judge", "zzzzzz", "--jurors", "rehearsal/oak"),
    )
    shown = finished.done()
    assert re.search(r"(?m)^topic +Tea is best$", shown)
    assert re.search(r"(?m)^state +closed$", shown)
    assert re.search(r"(?m)^money +0\.0000 USD of 1\.0000 USD$", shown)
    assert re.search(r"(?m)^prices from +local \(\d+\)$", shown)
    assert re.search(r"(?m)^steps +1\d done, 1\d tries$", shown)
    rounds = ("opening", "rebuttal", "assumptions", "closing")
    turns = [f"turn/{title}/{side}" for title in rounds for side in "AB"]
    assert re.findall(r"(?m)^ +(turn/\S+)$", shown) == turns
    assert re.search(r"(?m)^state +failed$", failed.done())
    assert re.search(r"(?m)^failed +turn/opening/A: \S+ refused the key \(401\)", failed.out)
    assert not re.search(r"(?m)^failed ", shown)
    assert unknown.failed(1) == "There is no debate “zzzzzz”; take an id from the list."
    neither = "There is no debate or series “zzzzzz”; take an id from the list, or name a series"
    assert judged.failed(1).startswith(neither)


@pytest.mark.slow
def test_a_later_juror_of_a_speakers_family_is_said_not_to_count(office: Office) -> None:
    asked = ("judge", office.finished, "--jurors", "rehearsal/maple,rehearsal/oak")
    told, shown = office.run(*asked).done(), json.loads(office.run(*asked, "--json").done())
    (debate,) = shown["debates"]
    recused = {one["juror"]: one["recused"] for one in debate["ballots"]}
    assert recused == {"rehearsal/maple": True, "rehearsal/oak": False}
    for line in told.splitlines():
        assert ("does not count" in line) == line.startswith("  rehearsal/maple")
    stats = ("stats", "--include-rehearsal")
    beside, resting, unknown = office.side_by_side(
        stats,
        (*stats, "--jury", "rehearsal/maple,rehearsal/oak", "--json"),
        (*stats, "--jury", "rehearsal/elm"),
    )
    assert "rehearsal/maple,rehearsal/oak:all" in beside.done()
    found = json.loads(resting.done())
    assert found["juries"]["juries"][0]["name"] == "first"
    assert {one["juror"] for one in found["agreement"]["jurors"]} >= set(recused)
    assert "The jury “rehearsal/elm” is not one of those here" in unknown.failed(2)


def test_a_failed_debate_is_resumed_or_cancelled_and_one_that_ended_is_not(
    office: Office, copy: Path
) -> None:
    cancelled, resumed = office.side_by_side(
        ("cancel", office.finished), ("resume", office.finished)
    )
    assert cancelled.failed(2) == (
        f"Debate {office.finished} is closed; only a running debate can be stopped."
    )
    assert resumed.failed(2) == f"Debate {office.finished} is closed; there is nothing to resume."
    there = {"ROSTRUM_DATABASE_URL": f"sqlite+aiosqlite:///{copy}"}
    again = office.run("resume", office.failed, "--votes", "A=1", **there)
    assert f"rostrum resume {office.failed}" in again.err
    with closing(sqlite3.connect(copy)) as database, database:
        database.execute("UPDATE debates SET status = 'queued' WHERE status = 'failed'")
    said = office.run("cancel", office.failed, **there).done()
    assert said == f"Debate {office.failed} is stopped.\n"
    assert "An operator stopped it." in office.run("show", office.failed, **there).done()


def test_a_debate_of_a_chat_is_queued_for_the_process_that_serves_the_chat(
    office: Office, copy: Path, tmp_path: Path
) -> None:
    chat = shutil.copy(copy, tmp_path / "chat.db")
    with closing(sqlite3.connect(chat)) as database, database:
        database.execute("UPDATE debates SET platform = 'discord', status = 'failed'")
    there = {"ROSTRUM_DATABASE_URL": f"sqlite+aiosqlite:///{chat}"}
    refused = office.run("resume", office.failed, "--votes", "A=1", **there).failed(2)
    assert refused.startswith("--votes is for a terminal's debate, and ")
    said = office.run("resume", office.failed, "--usd", "2", **there).done()
    assert said == f"Debate {office.failed} is queued, for rostrum run.\n"


def test_backups_and_reports_overwrite_nothing_and_need_a_place(office: Office, copy: Path) -> None:
    before = copy.read_bytes()
    again, nowhere, blocked = office.side_by_side(
        ("backup", "--out", "copy.db"),
        ("backup", "--out", "nowhere/copy.db"),
        ("report", office.finished, "--out", "rostrum.db"),
    )
    assert again.failed(2) == "copy.db exists already; name a new file."
    assert copy.read_bytes() == before
    assert nowhere.failed(1).startswith("The backup could not be written to nowhere/copy.db")
    assert blocked.failed(2) == (
        "The debate cannot be written to rostrum.db: File exists; choose another --out."
    )


def test_the_database_is_migrated_as_often_as_one_likes(tmp_path: Path) -> None:
    first, again = (rostrum(tmp_path, "migrate").done() for _ in range(2))
    assert re.fullmatch(r"The database rostrum\.db is at revision \d+\.\n", first)
    assert again == first


def test_a_repeated_export_is_the_same_to_the_byte(office: Office) -> None:
    said = office.run("export", "--out", "dataset", "--include-rehearsal").done()
    expected = (
        r"Exported to dataset: debates 2, turns 8, verdicts \d+, calibration \d+, votes 3\b.*\.\n"
    )
    assert re.fullmatch(expected, said)
    first = contents(office.folder / "dataset")
    assert office.run("export", "--out", "dataset", "--include-rehearsal").done() == said
    assert contents(office.folder / "dataset") == first
    assert {"README.md", "manifest.json"} < first.keys()
    ours = ("--community", "terminal", "--license", "odc-by-1.0")
    theirs = office.run("export", "--out", "theirs", "--include-rehearsal", *ours).done()
    assert theirs.startswith("Exported to theirs: debates 2, turns 8, ")
    assert "\nlicense: odc-by\n" in (office.folder / "theirs" / "README.md").read_text()


def test_rehearsal_debates_are_no_labels_and_said_to_be_left_out(office: Office) -> None:
    refused, told, all_of_them = office.side_by_side(
        ("export", "--out", "real"),
        ("stats",),
        ("stats", "--include-rehearsal"),
    )
    nothing = "No debate to export has ended yet, so nothing was exported"
    left_out = "2 rehearsal debates left out (--include-rehearsal adds them)"
    assert refused.failed(1) == f"{nothing}; {left_out}."
    assert not (office.folder / "real").exists()
    assert told.done().startswith("No debate that counts here has been revealed yet")
    assert told.out.endswith("Rehearsal debates left out: 1 (--include-rehearsal adds it).\n")
    assert all_of_them.done().startswith("Revealed debates: 1;")
    assert "left out" not in all_of_them.out


@pytest.mark.parametrize("kind", [(), ("--as", "html"), ("--as", "argilla")])
def test_a_filter_that_can_find_nothing_is_refused_and_an_earlier_export_stays(
    office: Office, kind: tuple[str, ...]
) -> None:
    everything = ("export", "--out", "two", "--include-rehearsal", *kind)
    office.run(*everything).done()
    before = contents(office.folder / "two")
    turned = ("--since", "2026-03-31", "--until", "2026-03-01")
    elsewhere, unknown, reversed_ends, stats = office.side_by_side(
        (*everything, "--community", "elsewhere"),
        (*everything, "--series", "nope"),
        (*everything, *turned),
        ("stats", "--series", "nope"),
    )
    assert "so nothing was exported" in elsewhere.failed(1)
    assert unknown.failed(1).startswith("There is no series “nope”")
    assert stats.failed(1).startswith("There is no series “nope”")
    assert reversed_ends.failed(2) == (
        "--since 2026-03-31 is after --until 2026-03-01; exchange them."
    )
    assert contents(office.folder / "two") == before
    shutil.rmtree(office.folder / "two")


class Gossip(BaseHTTPRequestHandler):
    """A backend that refuses every key, and repeats it while doing so."""

    def do_GET(self) -> None:
        said = orjson.dumps({"error": {"message": f"bad {self.headers['Authorization']}"}})
        self.send_response(401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: object) -> None:
        """Keep the tests' output clean."""


@contextmanager
def gossip() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Gossip) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def test_check_is_content_with_a_fresh_machine(errands: dict[str, Errand]) -> None:
    shown = errands["check"].ended().done()
    assert "FAIL" not in shown
    assert re.search(r"(?m)^note +database: rostrum\.db will be created when needed$", shown)
    assert re.search(r"(?m)^ok +backend rehearsal: .*not a language model$", shown)
    assert errands["check"].left() == set()


def test_check_names_every_backend_that_fails_and_never_a_key(office: Office) -> None:
    with socket.socket() as silent, gossip() as address:
        silent.bind(("127.0.0.1", 0))  # bound and not listening: a connection is refused
        dead = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        ended = office.run(
            "check",
            ROSTRUM_BACKENDS__DEAD__BASE_URL=dead,
            ROSTRUM_BACKENDS__DEAD__API_KEY=KEY,
            ROSTRUM_BACKENDS__GOSSIP__BASE_URL=address,
            ROSTRUM_BACKENDS__GOSSIP__API_KEY=KEY,
            ROSTRUM_MODELS="dead/ana,gossip/ben",
        )
    sentence = ended.failed(1)
    assert re.search(r"\b[2-9] checks failed; see above for the fix\.$", sentence)
    assert re.search(r"(?m)^FAIL +backend dead: .*could not be reached", ended.out)
    assert re.search(r"(?m)^FAIL +backend gossip: .*refused the key \(401\)", ended.out)
    assert re.search(r"(?m)^ok +database: rostrum\.db is ready$", ended.out)
    assert KEY not in ended.out + ended.err


def test_the_demo_shows_a_whole_debate_and_exports_it(errands: dict[str, Errand]) -> None:
    shown = errands["demo"].ended().done()
    assert "\x1b" not in shown
    assert shown.startswith('> /debate start topic:"')
    assert "It is not a language model" in shown
    assert "These votes are cast when it opens: A=3,B=2,tie=1" in shown
    assert [side + number for side, number in TURN.findall(shown)] == ALL_TURNS
    before, reveal = shown.split("[Reveal]")
    assert "rehearsal/" not in before
    assert re.search(r"🔵 A \(for it\) was rehearsal/\w+", reveal)
    assert "People: 🔵 A 3 · 🔴 B 2 · tie 1 · neither 0; 🔵 A's share 60% (23–88%)" in reveal
    assert re.search(r"Jury: .* \(.*\d%.*, \d jurors read it, \d readings counted\)", reveal)
    assert re.search(r"People and jury (dis)?agree", reveal)
    assert "Exported to demo-export: debates 1, turns 8, verdicts " in reveal
    assert "ROSTRUM_BACKENDS__" in reveal, "how to go on with real models"


def test_the_demo_leaves_a_dataset_in_one_folder_and_nothing_where_real_debates_are_kept(
    errands: dict[str, Errand],
) -> None:
    shown, folder = errands["demo"].ended().done(), errands["demo"].folder
    assert errands["demo"].left() == {"demo-export"}
    assert "demo-export/debate has the debate's database and its files. Nothing else" in shown
    files = contents(folder / "demo-export")
    manifest = orjson.loads(files["manifest.json"])
    assert manifest["rows"].keys() >= TABLES.keys()
    for table in ("debates", "turns", "votes"):
        [path] = (path for path in files if path.startswith(f"data/{table}/"))
        assert len(files[path].splitlines()) == TABLES[table]
    assert "data/verdicts/" in files["README.md"].decode()
    own = {path for path in files if path.startswith("debate/")}
    assert {file["path"] for file in manifest["files"]} == files.keys() - {"manifest.json"} - own


@pytest.mark.slow
def test_a_second_demo_replaces_the_first_ones_export_and_files_stay_where_it_says(
    errands: dict[str, Errand],
) -> None:
    errands["demo"].ended().done()
    folder = errands["demo"].folder
    first = contents(folder / "demo-export")
    shown = rostrum(folder, "demo", "--votes", "A=1,weak=1", "--format", "structured").done()
    second = contents(folder / "demo-export")
    manifest = orjson.loads(second["manifest.json"])
    assert sum(manifest["rows"]["debates"].values()) == 1
    assert sum(manifest["rows"]["votes"].values()) == 2
    assert second["manifest.json"] != first["manifest.json"]
    files = re.findall(r"(?m)^File: (.+)$", shown)
    assert files
    assert [file for file in files if not (folder / file).is_file()] == []


@pytest.mark.each_case
@pytest.mark.parametrize(
    ("name", "out", "words"),
    [
        ("turkish", "demo-export", ("language:tr", "Çay kahveden iyidir", "savunuyorum", "B 2")),
        ("chinese", "中文", ("language:zh", "我方", "论点", "🔵 A 3 · 🔴 B 2 · 平局 1")),
    ],
)
def test_the_demo_speaks_other_languages(
    errands: dict[str, Errand], name: str, out: str, words: tuple[str, ...]
) -> None:
    shown = errands[name].ended().done()
    assert [word for word in words if word not in shown] == []
    assert (errands[name].folder / out / "README.md").exists()


@pytest.mark.each_case
@pytest.mark.parametrize(
    ("name", "code", "sentence"),
    [
        (
            "demo over notes",
            2,
            "The folder notes contains other files than an export; name an empty or a new one.",
        ),
        (
            "demo with odd votes",
            2,
            "“C” in --votes is not on this ballot; choose from A, B, tie, weak.",
        ),
        ("demo of no format", 2, "There is no format “duel”; choose from "),
        ("demo in no language", 2, "“klingon!” is not a language code;"),
        ("export as a book", 2, "--as is “epub”; it must be jsonl, parquet, html, argilla,"),
        ("export of nothing", 1, NO_DATABASE),
        ("backup of nothing", 2, "There is no database rostrum.db to copy."),
        ("typo", 1, "ROSTRUM_MODLES is not a setting; did you mean ROSTRUM_MODELS?"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line_and_leaves_nothing(
    errands: dict[str, Errand], name: str, code: int, sentence: str
) -> None:
    ended = errands[name].ended()
    assert sentence in ended.err
    assert ended.out == ""
    assert ended.code == code
    assert re.fullmatch(r"rostrum: [^\n]+[.?]\n", ended.err)
    assert errands[name].left() == set()
    assert contents(errands[name].folder / "notes") == {"diary.txt": b"Dear diary"}


@pytest.mark.each_case
@pytest.mark.parametrize("words", WRONG)
def test_wrong_usage_is_exit_2_and_says_what_is_wrong(
    errands: dict[str, Errand], words: str
) -> None:
    ended = errands[f"wrong: {words}"].ended()
    assert (ended.code, ended.out) == (2, "")
    assert WRONG[words] in ended.err
    assert "Traceback" not in ended.err
    assert errands[f"wrong: {words}"].left() == set()


def test_the_load_benchmark_measures_itself_beside_two_others(errands: dict[str, Errand]) -> None:
    result = orjson.loads(errands["bench live"].ended().done())
    assert (result["bench"], result["debates"], result["calls_a_debate"]) == ("live", 4, 15)
    for way in ("rostrum", "sdk_create", "aiohttp"):
        measured = result[way]
        assert measured["wall_over_path_p99"] >= measured["wall_over_path_p50"] >= 1
        assert measured["cpu_ms_a_call"] > 0
    assert result["rostrum"]["start_ms_p99"] > 0
    assert errands["bench live"].left() == set(), "it cleans up"


PROGRAM = Path(sys.executable).with_name("rostrum")
MODELS = "rehearsal/maple,rehearsal/cedar"


def complete(folder: Path, line: str, **settings: str) -> list[str]:
    words = line.split(" ")
    asked = {
        "_ROSTRUM_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run(
        [PROGRAM],
        cwd=folder,
        env=environment_of(asked | settings),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_a_shell_completes_commands_and_options(tmp_path: Path) -> None:
    assert complete(tmp_path, "rostrum lis") == ["list"]
    assert complete(tmp_path, "rostrum show --tr") == ["--transcript"]
    assert complete(tmp_path, "rostrum bench li") == ["live"]


@pytest.mark.slow
def test_a_shell_completes_codes_models_within_a_list_and_names_of_series(tmp_path: Path) -> None:
    sides = ("--a", "rehearsal/maple", "--b", "rehearsal/cedar")
    rostrum(tmp_path, "debate", "Tabs", *sides, "--votes", "A=1", "--length", "short").done()
    code = rostrum(tmp_path, "list").done().splitlines()[1].split()[0]
    for words in ("show", "judge", "resume"):
        assert complete(tmp_path, f"rostrum {words} {code[:3]}") == [code]
    assert complete(tmp_path, "rostrum show zzzzzzz") == []
    set_up = {"ROSTRUM_MODELS": MODELS, "ROSTRUM_JURORS": "rehearsal/elm"}
    completed = complete(tmp_path, "rostrum debate --a rehearsal/c", **set_up)
    assert completed == ["rehearsal/cedar"]
    typed = "rostrum debate --jurors rehearsal/maple,rehearsal/e"
    assert complete(tmp_path, typed, **set_up) == ["rehearsal/maple,rehearsal/elm"]
    (tmp_path / "tea.toml").write_text(
        'name = "tea-time"\ntopics = ["Tea"]\nmodels = ["rehearsal/maple", "rehearsal/cedar"]\n'
        "repeats = 1\n"
    )
    rostrum(tmp_path, "series", "run", "tea.toml", "--yes").done()
    for words in ("series status", "judge", "stats --series"):
        assert complete(tmp_path, f"rostrum {words} tea") == ["tea-time"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [{"ROSTRUM_DATABASE_URL": "mysql://x"}, {}, {"ROSTRUM_MODLES": "x"}],
    ids=["a wrong address", "no database", "a wrong setting"],
)
def test_what_cannot_be_read_completes_nothing_and_says_nothing(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    assert complete(tmp_path, "rostrum show ", **settings) == []
    assert complete(tmp_path, "rostrum debate --a x", **settings) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_completion_installs_for_the_shell_that_asks(tmp_path: Path) -> None:
    home = environment_of({"HOME": str(tmp_path), "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"})

    def shell(command: str) -> str:
        bash = ["bash", "--norc", "-c", f"{command}; exit $?"]
        return subprocess.run(
            bash, env=home, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    assert "complete -o default -F _rostrum_completion rostrum" in shell(
        "rostrum --show-completion"
    )
    assert "bash completion installed in" in shell("rostrum --install-completion")
    installed = ". ~/.bashrc; COMP_WORDS=(rostrum lis); COMP_CWORD=1; _rostrum_completion rostrum"
    assert shell(f"{installed}; echo ${{COMPREPLY[@]}}") == "list\n"
