"""Rehearsal models: what a reader of a debate would notice, and what tests rely on."""

import re
from collections import Counter, defaultdict
from functools import cache
from time import perf_counter
from typing import Any

import orjson
import pytest
from hypothesis import given, strategies as st

from adapters.models.attempts import RetryPolicy
from adapters.models.rehearsal import RehearsalModels
from adapters.models.scenes import RehearsalOptions, Scene
from adapters.models.speeches import LANGUAGES, STAGES, ArgumentPoint, compose, load_script
from engine.jury.ballot import ballot_schema, read_ballot
from engine.stage.shapes import FLAG, TEXT, by_key, choice, record, several, whole
from engine.values.debate import Model, Sampling
from engine.values.errors import UsageError
from engine.values.ports import AnswerSchema, Call, ChatMessage, Reply
from engine.values.text import count_arguments, count_words, split_closing
from tests.doubles.rehearsed import RehearsedHost, hold, setup_for
from tests.kit import RecordedAttempts
from tests.slow import slow_after

ROUNDS = ("opening", "rebuttal", "assumptions", "closing")
TOPICS = {
    "en": "Remote work is more productive than working from an office",
    "tr": "Uzaktan çalışmak ofiste çalışmaktan daha verimlidir",
    "de": "Fernarbeit ist produktiver als Arbeit im Büro",
    "es": "Trabajar a distancia es más productivo que hacerlo en la oficina",
    "zh": "远程办公比坐班更有效率",
}


async def ask(name: str, log: RecordedAttempts | None = None, **changes: Any) -> Reply:
    given: dict[str, Any] = {
        "session": "s",
        "step": "turn/opening/A",
        "model": Model.parse(f"rehearsal/{name}"),
        "messages": (ChatMessage(role="user", content="Argue."),),
        "sampling": Sampling(temperature=0.7, max_tokens=500),
        "hint": {"topic": TOPICS["en"], "side": "A", "round": "opening", "language": "en"},
    }
    models = RehearsalModels(RetryPolicy(tries=3, first_wait=0.001))
    return await models.complete(Call(**(given | changes)), log or RecordedAttempts())


def scene(language: str = "en", round: str = "opening", side: str = "A", **more: Any) -> Scene:
    topic = TOPICS[language]
    return Scene(topic=topic, side=side, round=round, language=language, **more)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["maple", "birch", "cedar"])
def test_turns_keep_the_limits_of_classic_in_every_language(language: str, name: str) -> None:
    heard = ""
    for round in ROUNDS:
        for side in "AB":
            text = compose(scene(language, round, side, opposing=heard), RehearsalOptions.of(name))
            heard = text
            if round == "closing":
                synthesis, decision = split_closing(text)
                assert 40 < len(synthesis) <= 500
                assert 20 < count_words(decision) <= 200
            else:
                assert 60 < count_words(text) <= 500
                assert 2 <= count_arguments(text) <= 3


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_longest_topic_still_fits_a_closing(language: str) -> None:
    long = Scene(topic="W" * 9000, round="closing", language=language)
    assert len(split_closing(compose(long, RehearsalOptions.of("maple")))[0]) <= 500


def test_sides_models_and_rounds_differ_and_each_repeats_itself_exactly() -> None:
    maple = RehearsalOptions.of("maple")
    sides = [compose(scene(side=side), maple) for side in "AB"]
    assert all(TOPICS["en"] in text for text in sides)
    assert sides[0] != sides[1]
    models = [compose(scene(), RehearsalOptions.of(name)) for name in ("a", "b", "c", "d", "e")]
    assert len(set(models)) >= 4
    assert models[0] == compose(scene(), RehearsalOptions.of("a"))
    rounds = [compose(scene(round=round), maple) for round in ROUNDS[:3]]
    titles = [line.split("**")[1] for text in rounds for line in text.splitlines() if "**" in line]
    assert len(titles) == len(set(titles))
    assert compose(scene(round="rebuttal-2"), maple) != rounds[1]


def test_a_reply_quotes_the_opponent() -> None:
    heard = "1. **Rest.** Commuters sleep two hours less than those who stay at home.\n\n2. Short."
    text = compose(scene(round="rebuttal", side="B", opposing=heard), RehearsalOptions.of("maple"))
    assert "Commuters sleep two hours less than those who stay…" in text


@pytest.mark.parametrize(
    ("language", "said"), [("tr", "tez"), ("tr-TR", "tez"), ("TR_tr", "tez"), ("fi", "thesis")]
)
async def test_a_language_may_name_its_region_and_an_unknown_one_is_english(
    language: str, said: str
) -> None:
    hint = {"topic": "X", "round": "opening", "language": language}
    assert said in (await ask("maple", hint=hint)).text


async def test_a_call_without_a_cue_is_played_from_its_step() -> None:
    reply = await ask("maple", hint={}, step="turn/closing/B")
    assert "---" in reply.text
    assert "against the thesis" in reply.text


@given(st.text(max_size=300), st.text(max_size=300), st.sampled_from(ROUNDS))
def test_no_topic_or_opponent_breaks_a_turn(topic: str, heard: str, round: str) -> None:
    call = Call(
        session="s",
        step=f"turn/{round}/A",
        model=Model.parse("rehearsal/maple"),
        messages=(),
        sampling=Sampling(temperature=0, max_tokens=1),
        hint={"topic": topic, "opposing": heard},
    )
    text = compose(Scene.of(call), RehearsalOptions.of("maple"))
    assert count_words(text) <= 500
    assert text.replace("\n", "").isprintable()


async def test_latency_is_taken_and_tokens_written_can_be_told() -> None:
    started = perf_counter()
    reply = await ask("maple?latency=0.05&tokens_out=1234")
    assert perf_counter() - started >= 0.05
    assert reply.latency >= 0.05
    assert reply.usage.tokens_out == 1234


async def test_garbage_is_no_json() -> None:
    reply = await ask("maple?garbage=1", schema=ballot_schema(("X", "Y")))
    with pytest.raises(orjson.JSONDecodeError):
        orjson.loads(reply.text)
    assert not read_ballot(reply.text, reply.finish, {"A": "X", "B": "Y"}).valid


@pytest.mark.parametrize("language", LANGUAGES)
def test_over_passes_every_limit(language: str) -> None:
    turn = compose(scene(language), RehearsalOptions.of("maple?over"))
    assert count_words(turn) > 500
    assert count_arguments(turn) > 3
    synthesis, decision = split_closing(
        compose(scene(language, "closing"), RehearsalOptions.of("m?over"))
    )
    assert len(synthesis) > (500 if language != "zh" else 200)
    assert count_words(decision) > 200


async def test_a_request_to_shorten_is_heeded_except_by_over_always() -> None:
    hint = {"topic": TOPICS["en"], "side": "A", "round": "opening", "kind": "shorten"}
    assert 20 < count_words((await ask("maple?over", hint=hint)).text) <= 120
    assert count_words((await ask("maple?over=always", hint=hint)).text) > 500


@pytest.mark.parametrize("words", [60, 200, 450])
def test_words_are_about_as_many_as_asked(words: int) -> None:
    said = count_words(compose(scene(), RehearsalOptions.of(f"maple?words={words}")))
    assert 0.6 * words <= said <= words


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("maple?speed=1", "unknown option “speed”; known are latency"),
        ("maple?latency=soon", "wrong value"),
        ("maple?fail=200", "wrong value"),
        ("maple?prefer=third", "wrong value"),
    ],
)
async def test_a_wrong_option_is_named(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        await ask(name)


async def ballot(juror: str, topic: str, shown: tuple[str, str] = ("Harbor", "Meadow")) -> Any:
    text = f"{shown[0]} spoke first: … {shown[1]} spoke second: …"
    reply = await ask(
        juror,
        step="panel/1",
        messages=(ChatMessage(role="user", content=text),),
        schema=ballot_schema(shown),
        hint={"topic": topic, "kind": "ballot"},
    )
    return read_ballot(reply.text, reply.finish, {"A": "Harbor", "B": "Meadow"})


async def test_ballots_are_valid_agree_with_themselves_and_are_blind_to_order() -> None:
    verdicts, tied = Counter[str](), 0
    for number in range(60):
        level = True
        for juror in ("oak", "elm", "ash"):
            one = await ballot(juror, f"Topic {number}")
            other = await ballot(juror, f"Topic {number}", ("Meadow", "Harbor"))
            assert one.valid
            assert not one.contradictory
            assert (one.scores, one.verdict) == (other.scores, other.verdict)
            verdicts[one.verdict] += 1
            level &= one.scores["A"] == one.scores["B"]
        tied += level
    assert min(verdicts["A"], verdicts["B"], verdicts["tie"]) >= 10
    assert 3 <= tied <= 30


@pytest.mark.parametrize(("option", "first"), [("first", "A"), ("second", "B")])
async def test_a_biased_juror_follows_the_order_alone(option: str, first: str) -> None:
    for number in range(5):
        one = await ballot(f"oak?prefer={option}", f"Topic {number}")
        other = await ballot(f"oak?prefer={option}", f"Topic {number}", ("Meadow", "Harbor"))
        assert one.verdict == first
        assert {one.verdict, other.verdict} == {"A", "B"}
        assert one.scores["A"] == other.scores["B"]
    hint = {"topic": "T", "shown": "Meadow, Harbor"}  # which says who is shown first
    reply = await ask(f"oak?prefer={option}", schema=ballot_schema(("Harbor", "Meadow")), hint=hint)
    assert orjson.loads(reply.text)["verdict"] == {"A": "Meadow", "B": "Harbor"}[first]


async def test_the_better_contender_can_be_preferred_by_a_margin() -> None:
    won: Counter[str] = Counter()
    for number in range(20):
        result = await ballot("oak?prefer=stronger&margin=1", f"Topic {number}")
        gaps = [result.scores["A"][c] - result.scores["B"][c] for c in result.scores["A"]]
        assert set(gaps) == {1 if result.verdict == "A" else -1}
        won[result.verdict] += 1
    assert set(won) == {"A", "B"}


SHAPE = record(
    {
        "claims": several(record({"id": TEXT, "claim": TEXT, "score": whole(1, 10)}), 3, 5),
        "weight": {"type": "number", "minimum": 0.25, "maximum": 0.75},
        "kind": choice("strong", "weak"),
        "by_side": by_key(("A", "B"), several(TEXT)),
        "fair": FLAG,
    }
)


async def test_every_shape_that_is_asked_for_is_satisfied() -> None:
    for topic in map(str, range(50)):
        reply = await ask("maple", schema=AnswerSchema("Tree", SHAPE), hint={"topic": topic})
        made = orjson.loads(reply.text)
        assert list(made) == ["claims", "weight", "kind", "by_side", "fair"]
        assert 3 <= len(made["claims"]) <= 5
        assert all(one["id"] and one["claim"] and 1 <= one["score"] <= 10 for one in made["claims"])
        assert 0.25 <= made["weight"] <= 0.75
        assert made["kind"] in ("strong", "weak")
        assert set(made["by_side"]) == {"A", "B"}
        assert isinstance(made["fair"], bool)


@pytest.mark.parametrize("language", LANGUAGES)
def test_agents_at_a_table_take_no_side(language: str) -> None:
    maple = RehearsalOptions.of("maple")
    drafts = {compose(scene(language, "draft", side), maple) for side in "123"}
    sides = {compose(scene(language, "opening", side), maple) for side in "AB"}
    assert len(drafts) == 3
    titles = {line.split("**")[1] for text in drafts for line in text.splitlines() if "**" in line}
    argued = {line.split("**")[1] for text in sides for line in text.splitlines() if "**" in line}
    assert not titles & argued
    revised = compose(scene(language, "revision-1", "1", opposing=drafts.pop()), maple)
    assert "\n---\n" in revised


@pytest.mark.parametrize("language", ["en", "de", "es", "tr", "zh"])
def test_the_first_turn_of_an_exchange_opens_the_case(language: str) -> None:
    """It met “the best objection” before anyone had made one."""
    options = RehearsalOptions.of("maple")
    first = compose(scene(language, "exchange-1", "A"), options)
    assert first == compose(scene(language, "opening", "A"), options)


# --- What rehearsal speakers say in a whole debate, as a member reads it in each language ---------


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
def _debates() -> dict[tuple[str, str], RehearsedHost]:
    return {}


async def held(format: str, language: str) -> RehearsedHost:
    debates = _debates()
    if (format, language) not in debates:
        debates[format, language] = await hold(setup_for(format, language=language))
    return debates[format, language]


@pytest.mark.parametrize("language", slow_after(2, LANGUAGES))
@pytest.mark.parametrize("format", FORMATS)
async def test_no_longer_sentence_is_spoken_twice_in_a_debate(format: str, language: str) -> None:
    """Of a free debate's twenty speeches, each began with the same sentence."""
    host = await held(format, language)
    spoken = defaultdict(list)
    for turn in host.turns:
        for sentence in sentences(turn.text, language):
            spoken[sentence].append(f"{turn.round}/{turn.seat}")
    twice = {said: where for said, where in spoken.items() if len(where) > 1}
    assert not twice, f"{len(host.turns)} turns"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("words", range(40, 121, 16))
async def test_what_is_cut_at_a_limit_leaves_nothing_bold_open(words: int, language: str) -> None:
    """In Chinese a title was cut from the asterisks that end it."""
    limits = {"words": words, "arguments": 2}
    host = await hold(setup_for("classic", language=language, limits=limits))
    assert [turn.text for turn in host.turns if turn.text.count("**") % 2] == []


@pytest.mark.parametrize("language", slow_after(2, LANGUAGES))
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
    host = await held("team", language)
    steps = [step for step in host.stored if step.startswith("judge/summary/")]
    said = {host.stored[step].text for step in steps}
    assert len(said) == len(steps) == len(STAGES)
    assert all(QUOTED.search(text) for text in said)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_revision_names_what_it_keeps_adds_and_drops(language: str) -> None:
    """It listed new points and said that it kept the rest."""
    turns = (await held("roundtable", language)).turns
    for seat in "123":
        draft, first, second = (turn.text for turn in turns if turn.seat == seat)
        mine, (new,) = titles(draft), titles(first)
        kept, _, dropped = first.partition("\n---\n")
        assert [title for title in mine if title in kept] == mine[:2]
        assert [title for title in mine if title in dropped] == mine[2:]
        assert new in second.partition("\n---\n")[0]


def titles(text: str) -> list[str]:
    return [title.rstrip(".。") for title in re.findall(r"^\d\. \*\*(.+?)\*\*", text, re.MULTILINE)]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_reason_of_a_convergence_is_that_of_its_outcome(language: str) -> None:
    """“Both end up defending the same thing. It survived the objection, in a narrower form.”"""
    host = await held("audited", language)
    given = orjson.loads(host.stored["judge/convergence"].text)
    phrases = load_script(language, "for").phrases
    assert given["reason"] in phrases[f"reason_{given['outcome']}"]
    told = orjson.loads(host.stored["judge/narrative"].text)
    (text,) = phrases[f"narrative_{told['winner'].lower()}"]
    topic = setup_for("audited", language=language).request.topic
    assert told["narrative"] == text.replace("{topic}", topic)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("stance", ["for", "against", "table"])
def test_every_point_is_a_claim_with_its_reasoning(stance: str, language: str) -> None:
    """“The alternative” stood as a claim."""
    script = load_script(language, stance)
    known: list[ArgumentPoint] = [*script.points, *script.premises]
    assert len({point.title for point in known}) == len(known)
    alone = [p.title for p in known if len(re.findall(r"[.!?](?=\s|$)|[。！？]", p.text)) < 2]
    assert not alone


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_side_concedes_in_its_closing_what_it_conceded_before(language: str) -> None:
    host = await held("structured", language)
    for side in "AB":
        cross = orjson.loads(host.stored[f"turn/cross-examination/{side}"].text)["responses"]
        closing = orjson.loads(host.stored[f"turn/closing/{side}"].text)
        granted = [name for name, said in cross.items() if said["type"] == "concede"]
        assert closing["concessions"] == granted
        assert len(set(closing["answers"].values())) == len(closing["answers"])
