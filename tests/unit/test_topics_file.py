"""The operator's own topics: three ways to write them, and what is said of a mistake."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bot.settings.files import read_topics
from bot.settings.load import load_settings
from engine.chat.choices import topic_choices
from engine.prompts import load_prompts
from engine.run.order import Defaults, Order
from engine.run.plan import plan
from engine.values.debate import Request
from engine.values.errors import SettingsError, UsageError
from engine.values.topics import Topic, built_in_topics
from tests.doubles.rehearsed import DEFAULTS

TOML = """
[[topics]]
text = "Tabs or spaces"
for = "tabs"
against = "spaces"

[[topics]]
text = "Die Bahn ist besser als das Auto"
conditions = "Nur in Städten."
language = "de"
"""
YAML = """
# our own
- text: Tabs or spaces
  for: tabs
  against: spaces
- text: "Die Bahn ist besser als das Auto"
  conditions: Nur in Städten.
  language: de
"""
LINES = """
# our own
Tabs or spaces | tabs | spaces

[de]
Die Bahn ist besser als das Auto
"""
TABS = Topic(text="Tabs or spaces", stance_a="tabs", stance_b="spaces")
BAHN = Topic(text="Die Bahn ist besser als das Auto", language="de")
WRITTEN = {"topics.toml": TOML, "topics.yaml": YAML, "topics.yml": f"topics:\n{YAML}"}


@pytest.mark.parametrize("name", WRITTEN)
def test_tables_are_read_with_stances_conditions_and_languages(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(WRITTEN[name], encoding="utf-8")
    conditioned = BAHN.model_copy(update={"conditions": "Nur in Städten."})
    assert read_topics(tmp_path / name) == ((TABS, conditioned), ())


def test_plain_lines_are_read_with_stances_and_languages(tmp_path: Path) -> None:
    (tmp_path / "topics.txt").write_text(LINES, encoding="utf-8")
    assert read_topics(tmp_path / "topics.txt") == ((TABS, BAHN), ())
    (tmp_path / "plain.yaml").write_text("- yes\n- 'no'\n- 1984\n", encoding="utf-8")
    found = read_topics(tmp_path / "plain.yaml").topics
    assert [topic.text for topic in found] == ["yes", "no", "1984"]


TEA = '[[topics]]\ntext="Tea"\n'
BROKEN = {
    ("a.toml", '\n[[topics]]\ntext = "Tea'): (3, "not valid TOML"),
    ("a.toml", f'{TEA}\n[[topics]]\ntext="Tabs"\nfor="x"'): (4, "stance is missing"),
    ("a.toml", f'{TEA}[[topics]]\ntitle="Tabs"'): (3, "no entry “title”"),
    ("a.toml", f'{TEA}[[topics]]\ntext="tea!"'): (3, "repeats the topic of line 1"),
    ("a.toml", f"{TEA}[[topics]]\ntext=7"): (3, "text is not a text"),
    ("a.toml", 'topics = "Tea"'): (1, "only tables [[topics]] may be here"),
    ("a.yaml", "- Tea\n- text: Tabs\n  for: [a, b]\n"): (2, "for is not a text"),
    ("a.yaml", "- Tea\n- 'Tabs\n"): (3, "not valid YAML"),
    ("a.yaml", "- Tea\n- text: Tabs\n  language: Klingonisch\n"): (2, "language"),
    ("a.yaml", "text: Tea"): (1, "write a list"),
    ("a.yaml", "- Tea\n-\n"): (2, "no text"),
    ("a.txt", "Tea\nTabs | tabs"): (2, "topic | for | against"),
    ("a.txt", "Tea\nTabs | tabs | Tabs!"): (2, "both stances are the same"),
    ("a.txt", f"Tea\n{'x' * 1001}"): (2, "more than 1000 characters"),
    ("a.txt", "Tea\n[xx-klingon-nowhere]\nTabs"): (3, "language"),
}


@pytest.mark.parametrize(
    ("file", "said"), BROKEN.items(), ids=[said for _, said in BROKEN.values()]
)
def test_a_mistake_is_said_with_its_line_and_leaves_the_rest(
    tmp_path: Path, file: tuple[str, str], said: tuple[int, str]
) -> None:
    (tmp_path / file[0]).write_text(file[1], encoding="utf-8")
    topics, faults = read_topics(tmp_path / file[0])
    assert len(faults) == 1
    assert faults[0].startswith(f"{tmp_path / file[0]}, line {said[0]}: ")
    assert said[1] in faults[0]
    assert "\n" not in faults[0]
    assert faults[0].endswith((".", "?"))
    assert {topic.text for topic in topics} <= {"Tea"}


def test_an_empty_file_and_one_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("# nothing\n")
    assert read_topics(tmp_path / "a.txt").faults == (f"{tmp_path / 'a.txt'} holds no topic.",)
    with pytest.raises(SettingsError, match="which cannot be read: No such file"):
        read_topics(tmp_path / "b.txt")
    (tmp_path / "b.txt").write_bytes(b"\xff")
    with pytest.raises(SettingsError, match="which is not UTF-8 text"):
        read_topics(tmp_path / "b.txt")


def rostrum(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ROSTRUM_")}
    return subprocess.run(
        [sys.executable, "-c", "from bot.cli import main; main()", *words],
        cwd=folder,
        env=environment | variables | {"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )


def test_rostrum_topics_lists_them_and_says_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text(LINES + "Tabs | tabs\n", encoding="utf-8")
    ran = rostrum(tmp_path, "topics", ROSTRUM_TOPICS_FILE="own.txt", ROSTRUM_MODELS="broken")
    assert ran.returncode == 1
    assert ran.stdout.startswith("Topics of own.txt\n")
    assert "  Tabs or spaces · 🔵 A: tabs · 🔴 B: spaces\n" in ran.stdout
    assert "de (1)\n  Die Bahn ist besser als das Auto\n" in ran.stdout
    assert "FAIL  own.txt, line 7: write the topic alone" in ran.stdout
    assert "1 line of own.txt must be fixed." in ran.stderr
    other = rostrum(tmp_path, "topics", "--language", "fr", ROSTRUM_TOPICS_FILE="own.txt")
    assert "none in this language\n" in other.stdout
    (tmp_path / "empty.json").touch()
    empty = rostrum(tmp_path, "topics", ROSTRUM_TOPICS_FILE="empty.json")
    assert empty.stdout == "Topics of empty.json\nFAIL  empty.json holds no topic.\n"
    assert empty.stderr == "rostrum: empty.json must be fixed.\n"
    built_in = rostrum(tmp_path, "topics", "--language", "de")
    assert (built_in.returncode, built_in.stderr) == (0, "")
    assert "Built-in topics" in built_in.stdout
    assert "Katze oder Hund · 🔵 A: Katzen" in built_in.stdout
    assert "Tabs or spaces" not in built_in.stdout


def test_a_broken_file_is_refused_at_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.upper().startswith("ROSTRUM_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROSTRUM_TOPICS_FILE", "own.txt")
    with pytest.raises(SettingsError, match=r"ROSTRUM_TOPICS_FILE names own\.txt"):
        load_settings()
    (tmp_path / "own.txt").write_text("Tabs | tabs\n", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"own\.txt, line 1: write the topic alone"):
        load_settings()
    (tmp_path / "own.txt").write_text(LINES, encoding="utf-8")
    assert load_settings().topic_list().topics == (TABS, BAHN)


WHERE = {"platform": "memory", "community": "club", "place": "lobby"}
PROMPTS = load_prompts()
OWN = DEFAULTS.model_copy(update={"topics": (TABS, BAHN), "topic": None})


def requested(defaults: Defaults, seed: int, **asked: Any) -> Request:
    return plan(Order(**WHERE, **asked), defaults, PROMPTS, seed)[0].request


def test_random_draws_one_in_the_language_of_the_debate() -> None:
    drawn = requested(OWN, 1, topic=" Random ", language="de-AT")
    assert (drawn.topic, drawn.stances) == (BAHN.text, {})
    stated = requested(OWN, 1, topic="random")
    assert (stated.topic, stated.stances) == (TABS.text, {"A": "tabs", "B": "spaces"})
    again = requested(DEFAULTS, 5, topic="random", language="de")
    assert again == requested(DEFAULTS, 5, topic="random", language="de")
    seen = {requested(DEFAULTS, seed, topic="random", language="de").topic for seed in range(40)}
    assert len(seen) > 5
    with pytest.raises(UsageError, match="no topic in the language fr"):
        requested(OWN, 1, topic="random", language="fr")


def test_a_listed_topic_brings_its_stances_unless_others_are_given() -> None:
    typed = requested(OWN, 1, topic="tabs or spaces?")
    assert typed.stances == {"A": "tabs", "B": "spaces"}
    other = {"stance_a": "tabs in Go", "stance_b": "spaces in Go"}
    given = requested(OWN, 1, topic="Tabs or spaces", **other)
    assert given.stances == {"A": "tabs in Go", "B": "spaces in Go"}
    table = requested(OWN, 1, topic="Tabs or spaces", format="roundtable")
    assert table.stances == {}
    with pytest.raises(UsageError, match="A debate needs a topic"):
        requested(OWN, 1)


def test_ideas_in_the_persons_language_come_first_and_none_is_of_one_country_alone() -> None:
    offered = [choice.value for choice in topic_choices("", OWN.topics, "de-DE")]
    assert offered == ["random", BAHN.text, TABS.text]
    # Servers anywhere were offered "Remote work … (Consider only Türkiye.)".
    assert not [topic for topic in built_in_topics() if topic.speaks("en") and topic.conditions]


def test_a_mistake_in_every_line_of_a_long_file_is_found_in_a_moment(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("[zhde]\nCats\n" * 6000, encoding="utf-8")
    began = time.process_time()
    faults = read_topics(tmp_path / "own.txt").faults
    assert time.process_time() - began < 1
    assert len(faults) == 6001  # and that there is no topic
    assert "zh (Chinese)" in faults[0]


KNOWN = """
[[topics]]
text = "What is the capital of Australia?"
options = ["Sydney", "Canberra", "Perth"]
answer = "Canberra"
source = "Canberra has been the capital since 1913."

[[topics]]
text = "Is 97 a prime number?"
for = "97 is prime"
against = "97 is not prime"
answer = "against"
"""


def test_a_topic_may_carry_its_answer(tmp_path: Path) -> None:
    (tmp_path / "known.toml").write_text(KNOWN, encoding="utf-8")
    (capital, prime), faults = read_topics(tmp_path / "known.toml")
    assert not faults
    assert capital.choices == ("Sydney", "Canberra", "Perth")
    assert (capital.answer, prime.answer) == ("Canberra", "97 is not prime")
    assert capital.source == "Canberra has been the capital since 1913."
    assert "Canberra" not in repr(prime) + repr(capital).replace(repr(capital.choices), "").replace(
        repr(capital.source), ""
    )
    yaml = "- text: Which?\n  options: [yes, no]\n  answer: no\n"
    (tmp_path / "known.yaml").write_text(yaml, encoding="utf-8")
    assert read_topics(tmp_path / "known.yaml").topics[0].answer == "no"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ('options = ["a", "b"]\nanswer = "c"', "the answer “c” is none of a, b; write one."),
        ('options = ["a", "b"]', "options without an answer; write which of them is right."),
        ('options = ["a"]\nanswer = "a"', "options needs 2 to 9 answers, none of them empty."),
        ('options = "a"\nanswer = "a"', "options is not a list of texts; write it as in"),
        ('options = ["a", "A."]\nanswer = "a"', "two options are the same; give each one"),
        ('answer = "for"', "an answer needs options, or for and against, to be one of."),
        ('for = "a"\nagainst = "b"\nanswer = "c"', "the answer “c” is none of for, against;"),
        ('for = "a"\nagainst = "b"\noptions = ["a", "b"]\nanswer = "a"', "both options and stan"),
        ('source = "a text"', "a source is for a topic with an answer; leave it out."),
    ],
)
def test_a_wrong_answer_is_said_with_its_line(tmp_path: Path, given: str, why: str) -> None:
    (tmp_path / "known.toml").write_text(f'[[topics]]\ntext = "Which?"\n{given}\n')
    (fault,) = read_topics(tmp_path / "known.toml").faults[:1]
    assert fault.startswith(f"{tmp_path / 'known.toml'}, line 1: ")
    assert why in fault


SUM = Topic(text="What is 17 × 24?", choices=("408", "398"), answer="408")


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"topic": "Tea or rum", "protocol": "direct"}, "none is known of “Tea or rum”"),
        ({"protocol": "expert"}, "reads the sources, and “What is 17 × 24?” has none"),
        ({"protocol": "direct", "stance_a": "tea", "stance_b": "rum"}, "known of “What is 17"),
        ({"protocol": "direct", "format": "roundtable"}, "answers a question by itself"),
    ],
)
def test_a_protocol_that_cannot_be_held_is_refused(asked: dict[str, Any], why: str) -> None:
    offer = DEFAULTS.model_copy(update={"topics": (SUM,)})
    given = {"platform": "chat", "community": "club", "place": "", "topic": SUM.text} | asked
    with pytest.raises(UsageError, match=why.replace("?", r"\?")):
        plan(Order(**given), offer, load_prompts(), seed=1)
