"""`rostrum debate` as a person runs it: real processes, signals, and a terminal with keys."""

import json
import re
import signal
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from engine.words.scores import columns
from tests.kit import HANG_SECONDS
from tests.scenario.terminal_stage import Screen, Shell, ended, seated
from tests.unit.test_dataset_export import table

TOPIC = "Tea is better than coffee"
SLOW = ("--a", "rehearsal/maple?latency=0.2", "--b", "rehearsal/willow?latency=0.2")
SLOWER = ("--a", "rehearsal/maple?latency=1.5", "--b", "rehearsal/willow?latency=1.5")
QUICK = ("--a", "rehearsal/maple", "--b", "rehearsal/willow")
TURN = re.compile(r"(?m)^\[?(?:[🔵🔴] )?([AB]) · [a-z]+ · turn (\d) of 8")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def turns_in(text: str) -> list[str]:
    return [f"{side}{number}" for side, number in TURN.findall(text)]


ALL_TURNS = ["A1", "B2", "A3", "B4", "A5", "B6", "A7", "B8"]


def test_a_debate_without_a_terminal_is_plain_text_from_topic_to_reveal(
    shell: Shell,
) -> None:
    code, out, err = shell.run("debate", TOPIC, *QUICK, "--votes", "A=3,B=2,tie=1")
    assert (code, err) == (0, "")
    assert "\x1b" not in out
    assert turns_in(out) == ALL_TURNS
    assert "🔵 A (for it) was rehearsal/maple" in out
    assert "People: 🔵 A 3 · 🔴 B 2 · tie 1 · neither 0; 🔵 A's share 60%" in out
    assert out.index("[Reveal]") < out.index("rehearsal/maple")


@pytest.mark.each_case
@pytest.mark.parametrize(
    ("option", "given", "sentence"),
    [
        ("votes", "A=3,C=1", "“C” in --votes is not on this ballot; choose from A, B, tie, weak."),
        ("stances", "", "--stances has no votes; write it as against>for=2,for=1."),
        ("ahead", ";", "--ahead has no votes; write it as A=3,even=1;B=4."),
        (
            "sure",
            "x=1",
            "“x” in --sure is not on this ballot; choose from close, clear, one-sided.",
        ),
    ],
)
def test_answers_that_nobody_can_give_stop_it_before_anything_starts(
    shell: Shell, option: str, given: str, sentence: str
) -> None:
    code, out, err = shell.run("debate", TOPIC, f"--{option}", given)
    assert (code, out, err) == (2, "", f"rostrum: {sentence}\n")
    assert not shell.database.exists()


def framed(screen: Screen) -> int:
    return len(re.findall(r"· turn \d of \d ", screen.shown))


@pytest.mark.slow
def test_the_demo_waits_for_a_key_between_rounds_on_a_terminal(shell: Shell) -> None:
    with seated(shell, "demo", "--round-votes", "--ahead", "A=1", "--votes", "A=1") as seat:
        seat.screen.until("any key shows the next one (--pace 0 shows them without waiting)")
        for number, name in enumerate(("rebuttal", "assumptions", "closing"), start=1):
            seat.screen.until_keys(f"Press any key for the next round: {name}.")
            assert framed(seat.screen) == 2 * number
            seat.screen.press(" ")
        seat.rest()
    assert framed(seat.screen) == len(ALL_TURNS)


@pytest.mark.slow
def test_a_round_is_read_until_all_have_said_who_is_ahead(shell: Shell) -> None:
    with seated(shell, "demo", "--round-votes", "--length", "short") as seat:
        for pressed in ("a\n", "b\n", "\n"):
            seat.screen.until_keys("Enter = continue")
            assert framed(seat.screen) == 2
            seat.screen.shown = ""
            seat.screen.press(pressed)
        seat.screen.until_keys()
        seat.screen.press("\n")
        seat.rest()


OXFORD = ("demo", "--format", "oxford", "--topic", TOPIC)


@pytest.mark.slow
def test_given_stances_decide_the_format_that_goes_by_them(shell: Shell) -> None:
    code, out, err = shell.run(*OXFORD, "--stances", "against>for=2,for=1,unsure>against=2")
    assert (code, err) == (0, "")
    assert out.index("guest-1 is against it") < out.index("A1 · opening")
    assert out.index("[After the debate]") < out.index("guest-1 is for it")
    assert "4 of 5 people changed sides: 🔵 A 2 · 🔴 B 2" in out
    assert "[The room chooses 🔵 A]" in out
    assert "🔵 A 20% → 60%, 🔴 B 40% → 40%. People who answered both times: 5." in out


@pytest.mark.each_case
@pytest.mark.parametrize("given", [(), ("--votes", "A=2"), ("--stances", "against>for=1,for=5")])
def test_stances_that_no_one_will_give_are_not_waited_for(
    shell: Shell, given: tuple[str, ...]
) -> None:
    (shell.folder / ".env").write_text("ROSTRUM_STANCE_SECONDS=86400\n")
    code, out, err = shell.run("debate", TOPIC, *QUICK, "--format", "oxford", *given)
    assert (code, err) == (0, "")
    assert out.count("No one says here where they stand") == ("--stances" not in given)
    assert ("The room chooses" in out) == ("--stances" in given)


@pytest.mark.slow
def test_people_at_the_keyboard_say_where_they_stand_before_and_after(shell: Shell) -> None:
    with seated(shell, *OXFORD, "--pace", "0") as seat:
        seat.screen.until_keys("The room decides once 5 people have answered before and after")
        seat.screen.press("--?+-\n")
        seat.screen.until("guest-5 is against it")
        seat.screen.until_keys()
        seat.screen.press("AB\n")
        seat.screen.shown = ""
        seat.screen.until_keys("Enter = continue")
        seat.screen.press("++++-\n")
        seat.rest()
    assert "The room chooses 🔵 A" in seat.screen.shown


@pytest.mark.slow
def test_people_at_the_keyboard_say_why_and_guess_the_models(shell: Shell) -> None:
    with seated(shell, "debate", TOPIC, *QUICK, "--say-why") as seat:
        seat.screen.until_keys()
        seat.screen.press("AB\n")
        seat.screen.until("What decided it for you?")
        seat.screen.press("lus")  # the first says something else instead
        seat.screen.until("guest-1: style")
        seat.screen.press("e")
        seat.screen.until("How clear was it?")
        seat.screen.press("1\n")  # the second does not say
        seat.screen.until("A: guess the model")
        seat.screen.press("12")
        seat.screen.until("B: guess the model")
        seat.screen.press("1\n")
        seat.rest()
    assert "guest-2: evidence" in seat.screen.shown
    assert "voters guessed it" in seat.screen.shown
    with closing(sqlite3.connect(shell.database)) as database:
        told = database.execute(
            "SELECT json_extract(body, '$.ground'), json_extract(body, '$.confidence') FROM votes "
            "WHERE question = 'vote' ORDER BY person"
        ).fetchall()
        assert told == [("style", "close"), ("evidence", "")]
        [(guesses,)] = database.execute("SELECT count(*) FROM votes WHERE question = 'guess'")
    assert guesses == 3


def test_given_answers_say_who_is_ahead_after_each_round_and_how_clear_it_was(
    shell: Shell,
) -> None:
    given = ("--votes", "A=2", "--sure", "close=1,one-sided=1", "--ahead", "A=2,even=1;B=3")
    code, out, err = shell.run("debate", TOPIC, *given)
    assert (code, err) == (0, "")
    assert out.index("[How clear was it?]") < out.index("guest-2 votes: one-sided")
    assert out.index("A · opening") < out.index("[After opening]") < out.index("A · rebuttal")
    assert "Ahead after opening: 🔵 A 2, even 1 · rebuttal: 🔴 B 3 · assumptions: 🔴 B 3" in out


@pytest.mark.slow
def test_people_at_the_keyboard_say_who_is_ahead(shell: Shell) -> None:
    # A key answers the newest question: the next round must not end before all three are read.
    with seated(shell, "debate", TOPIC, "--round-votes", *SLOWER) as seat:
        seat.screen.until_keys("Enter = continue")
        seat.screen.press("aae")
        seat.screen.until("guest-3 votes: even")
        seat.screen.until_keys()
        seat.screen.press("B\n")
        seat.screen.until("Ahead after opening: 🔵 A 2, even 1")
        seat.rest()


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_keeps_the_call_in_flight_and_the_debate_goes_on_later(
    shell: Shell, stop: signal.Signals
) -> None:
    with ended(shell.open("debate", TOPIC, *SLOW, "--votes", "A=1")) as process:
        assert process.stdout is not None
        before = ""
        while "turn 2 of 8" not in before:
            before += process.stdout.readline()
        process.send_signal(stop)
        out, err = process.communicate(timeout=HANG_SECONDS)
    assert (process.returncode, err) == (1, "")
    assert set(shell.calls()) == {"done"}
    assert shell.calls()["done"] < 12
    [code] = re.findall(r"Continue with: +rostrum resume (\w+)", out)
    stopped = set(turns_in(before + out))

    exit_code, resumed, err = shell.run("resume", code, "--votes", "A=1")
    assert (exit_code, err) == (0, "")
    assert set(turns_in(resumed)) | stopped == set(ALL_TURNS)
    assert max(Counter(turns_in(resumed)).values()) == 1
    assert "[Reveal]" in resumed
    assert set(shell.calls()) == {"done"}
    [record] = (shell.folder / "rostrum.db.terminal").iterdir()
    posted = re.findall(r'"kind":"post".*?"reference":"([^"]+)"', record.read_text())
    assert len(posted) == len(set(posted)) > 0


def test_a_second_process_on_the_same_file_is_refused(shell: Shell) -> None:
    with seated(shell, "debate", TOPIC, *QUICK) as seat:
        seat.screen.until_keys()
        code, out, err = shell.run("debate", TOPIC, "--votes", "A=1")
        seat.screen.press("\n")
        seat.rest()
    assert (code, out) == (1, "")
    assert re.fullmatch(r"rostrum: Another Rostrum already runs on .*; stop it first.*\n", err)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            ("demo", "--resume", "abc123", "--length", "short"),
            "--length cannot change when a debate is resumed: leave it out.",
        ),
        (("resume", "abc123", "--replace-model", "near/x"), "write it as old=new."),
        # nothing to read a turn
        (("debate", "Tea", "--b", "me", "--votes", "A=1"), "there is none here"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_sentence(
    shell: Shell, given: tuple[str, ...], said: str
) -> None:
    code, out, err = shell.run(*given)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


@pytest.mark.slow
def test_a_debate_whose_model_is_gone_goes_on_with_another(shell: Shell) -> None:
    gone = ("--b", "rehearsal/willow?fail=404")
    code, _, err = shell.run("debate", TOPIC, QUICK[0], QUICK[1], *gone, "--votes", "A=1")
    assert code == 1
    [named] = re.findall(r"rostrum resume (\w+)", err)
    change = "rehearsal/willow?fail=404=rehearsal/alder"
    code, out, err = shell.run("resume", named, "--replace-model", change, "--votes", "A=1")
    assert (code, err) == (0, "")
    assert "another one has taken its place" in out
    assert "🔴 B (against it) was rehearsal/alder" in out


@pytest.mark.slow
def test_what_a_demo_says_is_cut_in_no_word_on_a_narrow_terminal(tmp_path: Path) -> None:
    with seated(Shell(tmp_path, columns=60), "demo", "--pace", "0") as seat:
        seat.screen.until_keys()
        seat.screen.press("a\n")
        seat.screen.until("rostrum debate")
        seat.rest()
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seat.screen.shown)
    assert [line for line in shown.splitlines() if columns(line.rstrip()) > 60] == []
    assert "The vote counts with 5 votes or more." in shown


@pytest.mark.slow
def test_a_mirror_is_voted_on_before_the_first_names_its_models_and_both_are_exported(
    shell: Shell,
) -> None:
    assert shell.run("debate", TOPIC, *QUICK, "--votes", "A=1")[0] == 0
    cast = ("--votes", "A=4,B=1,tie=1")
    code, out, err = shell.run("debate", TOPIC, *QUICK, "--mirror", *cast, "--out", "out")
    assert (code, err) == (0, "")
    assert turns_in(out) == ALL_TURNS * 2
    assert out.count("[Vote]") == out.count("[Reveal]") == 2
    before, _, after = out.partition("[Reveal]")
    assert before.count("[Vote]") == 2
    assert "rehearsal/" not in before
    for side, model in (("A", "maple"), ("B", "willow"), ("A", "willow"), ("B", "maple")):
        stands = {"A": "for it", "B": "against it"}[side]
        assert f"{side} ({stands}) was rehearsal/{model}" in after
    # No other debate of the database is exported.
    assert "Exported to out: debates 2, " in out
    ids = [row["debate_id"] for row in table(shell.out, "debates")]
    manifest = json.loads((shell.folder / "out" / "manifest.json").read_text())
    assert sorted(manifest["filters"]["ids"]) == sorted(ids)
    assert [row["side"] for row in table(shell.out, "preference_same_side")] == ["A", "B"]
    assert [vote["gold"] for vote in table(shell.out, "votes")] == [True] * 12


@pytest.mark.slow
def test_a_person_at_the_keyboard_argues_a_side_and_goes_on_after_ctrl_c(
    shell: Shell,
) -> None:
    mine = ("--a", "rehearsal/maple", "--b", "me", "--length", "short", "--votes", "A=1,B=2")
    asked = "🔴 B, it is your turn: {}."
    with seated(shell, "debate", TOPIC, *mine) as seat:
        seat.screen.until(asked.format("opening"))
        seat.screen.press("Coffee wakes.\nIt always did.\n\n")
        seat.screen.until(asked.format("rebuttal"))
        seat.screen.press("\x03")
        seat.rest(1)
    code = re.findall(r"rostrum resume (\w+)", seat.screen.shown)[-1]
    with seated(shell, "resume", code, "--votes", "A=1,B=2") as seat:
        seat.screen.until(asked.format("rebuttal"))
        seat.screen.press("word " * 121 + "\n\n")
        seat.screen.until("at most 120 are allowed")
        seat.screen.press("So it does.\n\x04")  # the end of the input ends a turn, too
        for round_name in ("assumptions", "closing"):
            seat.screen.until(asked.format(round_name))
            seat.screen.press(f"My {round_name}.\n\n")
        seat.rest()
    shown = seat.screen.shown
    assert asked.format("opening") not in shown, "it was given before"
    assert "was a person" in shown
    for said in ("It always did.", "So it does.", "My closing."):
        assert said in shown
