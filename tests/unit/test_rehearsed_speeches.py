"""What rehearsal speakers say in a whole debate, as a member reads it in each language."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache

import orjson
import pytest

from adapters.models.speeches import LANGUAGES, STAGES, Point, load_script
from engine.values.text import count_words
from tests.doubles.rehearsed import RehearsedDesk, hold, setup_for
from tests.slow import slow_after

FORMATS = ("classic", "oxford", "team", "structured", "roundtable", "audited")
QUOTED = re.compile(r"[“„][^“”„]*[“”]|«[^»]*»")
MARKS = re.compile(r"[*_#>]+|^\s*\d+\. |^- ", re.MULTILINE)
FRAMES = re.compile(r"(?<!\*)\*[^*\n]+\*(?!\*)")  # the engine's words around a speech
ENDS = re.compile(r"(?<=[.!?:。！？：])\s*|\n+")
LONG_WORDS, LONG_CHARS = 6, 15


def sentences(text: str, language: str) -> list[str]:
    """Return the longer sentences of a speech, without what it quotes."""
    plain = MARKS.sub(" ", QUOTED.sub("“”", FRAMES.sub(" ", text)))
    parts = [" ".join(part.split()) for part in ENDS.split(plain)]
    if language == "zh":
        return [part for part in parts if len(part) > LONG_CHARS]
    return [part for part in parts if count_words(part.replace("“”", "")) > LONG_WORDS]


@cache
def _debates() -> dict[tuple[str, str], RehearsedDesk]:
    return {}


async def held(format: str, language: str) -> RehearsedDesk:
    """Hold a debate once for all tests of it."""
    debates = _debates()
    if (format, language) not in debates:
        debates[format, language] = await hold(setup_for(format, language=language))
    return debates[format, language]


@pytest.mark.parametrize("language", slow_after(2, LANGUAGES))
@pytest.mark.parametrize("format", FORMATS)
async def test_no_longer_sentence_is_spoken_twice_in_a_debate(format: str, language: str) -> None:
    """Of a free debate's twenty speeches, each began with the same sentence."""
    desk = await held(format, language)
    spoken = defaultdict(list)
    for turn in desk.turns:
        for sentence in sentences(turn.text, language):
            spoken[sentence].append(f"{turn.round}/{turn.seat}")
    twice = {said: where for said, where in spoken.items() if len(where) > 1}
    assert not twice, f"{len(desk.turns)} turns"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("words", range(40, 121, 16))
async def test_what_is_cut_at_a_limit_leaves_nothing_bold_open(words: int, language: str) -> None:
    """In Chinese a title was cut from the asterisks that end it."""
    limits = {"words": words, "arguments": 2}
    desk = await hold(setup_for("classic", language=language, limits=limits))
    assert [turn.text for turn in desk.turns if turn.text.count("**") % 2] == []


@pytest.mark.parametrize("language", LANGUAGES)
async def test_each_answer_in_team_is_the_one_to_its_question(language: str) -> None:
    phrases = load_script(language, "for").phrases
    answers = dict(zip(phrases["questions"], phrases["answers"], strict=True))
    turns = [t for t in (await held("team", language)).turns if t.round.startswith("cross-")]
    for asked, answered in zip(turns[::2], turns[1::2], strict=True):
        topic = setup_for("team", language=language).request.topic
        numbered = [line.split(". ", 1)[1] for line in asked.text.splitlines()]
        wanted = {
            question.replace("{topic}", topic): answer for question, answer in answers.items()
        }
        assert [wanted[question] for question in numbered] == answered.text.split("\n\n")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_stages_of_team_are_summed_up_in_their_own_words(language: str) -> None:
    """All four summaries were the same sentences."""
    desk = await held("team", language)
    steps = [step for step in desk.stored if step.startswith("judge/summary/")]
    said = {desk.stored[step].text for step in steps}
    assert len(said) == len(steps) == len(STAGES)
    assert all(QUOTED.search(text) for text in said)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_revision_names_what_it_keeps_adds_and_drops(language: str) -> None:
    """It listed new points and said that it kept the rest."""
    turns = (await held("roundtable", language)).turns
    for seat in "123":
        draft, first, second = (turn.text for turn in turns if turn.seat == seat)
        mine = titles(draft)
        new = titles(first)
        assert len(new) == 1
        kept = [title for title in mine if said_in(title, first.partition("\n---\n")[0])]
        dropped = [title for title in mine if said_in(title, first.partition("\n---\n")[2])]
        assert kept == mine[:2]
        assert dropped == mine[2:]
        assert said_in(new[0], second.partition("\n---\n")[0])


def titles(text: str) -> list[str]:
    """Return the titles of a speech's points."""
    return [title.rstrip(".。") for title in re.findall(r"^\d\. \*\*(.+?)\*\*", text, re.MULTILINE)]


def said_in(title: str, text: str) -> bool:
    """Return whether a text names a title."""
    return title in text


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_reason_of_a_convergence_is_that_of_its_outcome(language: str) -> None:
    """“Both end up defending the same thing. It survived the objection, in a narrower form.”"""
    desk = await held("audited", language)
    given = orjson.loads(desk.stored["judge/convergence"].text)
    phrases = load_script(language, "for").phrases
    assert given["reason"] in phrases[f"reason_{given['outcome']}"]
    told = orjson.loads(desk.stored["judge/narrative"].text)
    (text,) = phrases[f"narrative_{told['winner'].lower()}"]
    topic = setup_for("audited", language=language).request.topic
    assert told["narrative"] == text.replace("{topic}", topic)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("stance", ["for", "against", "table"])
def test_every_point_is_a_claim_with_its_reasoning(stance: str, language: str) -> None:
    """“The alternative” stood as a claim."""
    script = load_script(language, stance)
    known: list[Point] = [*script.points, *script.premises]
    assert len({point.title for point in known}) == len(known)
    alone = [p.title for p in known if len(re.findall(r"[.!?](?=\s|$)|[。！？]", p.text)) < 2]
    assert not alone


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_side_concedes_in_its_closing_what_it_conceded_before(language: str) -> None:
    desk = await held("structured", language)
    for side in "AB":
        cross = orjson.loads(desk.stored[f"turn/cross-examination/{side}"].text)["responses"]
        closing = orjson.loads(desk.stored[f"turn/closing/{side}"].text)
        granted = [name for name, said in cross.items() if said["type"] == "concede"]
        assert closing["concessions"] == granted
        assert len(set(closing["answers"].values())) == len(closing["answers"])
