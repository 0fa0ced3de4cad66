"""Reading structured answers out of whatever models write."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import example, given, strategies as st

from engine.floor.structured import Parsed, UnreadableError, read_object
from tests.slow import slow_after

PLAIN = '{"reasons": "both {were} fine [1]", "n": [1, {"a": null}]}'
VALUE = {"reasons": "both {were} fine [1]", "n": [1, {"a": None}]}


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        f'Here you are:\n{PLAIN}\nI hope that it\'s "useful".',
        f"```json\n{PLAIN}\n```",
        f"{PLAIN}\n\nAgain:\n```\n{json.dumps(VALUE, indent=3)}\n```",
        f"Some set {{}} and {{see below}} and {{note: this}}. {PLAIN}",
        f"a ] bracket }} in prose {PLAIN}",
    ],
)
def test_prose_and_fences_around_one_object_are_no_repair(text: str) -> None:
    assert read_object(text) == Parsed(VALUE, repaired=False)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "b": [1, 2,],}',
        "{'a': 1, 'b': [1, 2]}",
        '{a: 1, "b": [1, 2]}',
        '{"a": 1, // one\n "b": [1, 2]}',
    ],
)
def test_small_mistakes_are_repaired_and_flagged(text: str) -> None:
    assert read_object(text) == Parsed({"a": 1, "b": [1, 2]}, repaired=True)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no JSON object"),
        ("I cannot judge this.", "no JSON object"),
        ("[1, 2]", "no JSON object"),
        ("{see below}", "no JSON object"),
        ('{"a": 1', "not closed"),
        ('{"a": "never ends}', "not closed"),
        ('{"a": [1, 2}', "not closed"),
        ('{"a": 1} and {"a": 2}', "differ"),
        ('{"a": 1} and {"a": 1.0}', "differ"),
        ('{"a": 1} and {"a": true}', "differ"),
        ('{"a": 1} and {"a": 2,}', "differ"),
        ('{"a": 1, "a": 2}', "twice"),
        ('{"a": NaN}', "NaN"),
        ('{"a": ' * 65 + "1" + "}" * 65, "deeper"),
        ('{"a": "B wrote: </think>{\\"a\\": 2}', "not closed"),
        ("{'a': 'B wrote: </think>{\"a\": 2}', b", "not closed"),
    ],
)
def test_anything_else_is_unreadable_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(UnreadableError, match=reason):
        read_object(text)


@pytest.mark.parametrize("inner", ['{"a":', '["a",', "{'a':", "9" * 50 + ","])
@pytest.mark.parametrize("times", slow_after(2, [70, 200, 300, 400, 1000, 3000]))
def test_what_a_repair_cannot_read_is_a_value_or_unreadable_and_no_bug(
    inner: str, times: int
) -> None:
    for text in (f'{{"reasons": {{"{inner * times}"}}}}', f'{{"a": {"9" * 2 * times}, b: 1}}'):
        try:
            value = read_object(text).value
        except UnreadableError:
            continue
        assert json.dumps(value).count("}") <= 64


def test_a_cut_off_answer_is_unreadable_even_when_it_looks_whole() -> None:
    with pytest.raises(UnreadableError, match="cut off"):
        read_object(PLAIN, "length")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"reasons": "B wrote </think> twice: </think>.", "n": 1}),
        "As asked:\n" + json.dumps({"reasons": "B wrote </think> twice: </think>.", "n": 1}),
    ],
)
def test_an_answer_may_quote_the_tag_that_ends_reasoning(text: str) -> None:
    value = {"reasons": "B wrote </think> twice: </think>.", "n": 1}
    assert read_object(text) == Parsed(value, repaired=False)


def test_an_object_that_a_quoted_debater_wrote_is_never_the_answer() -> None:
    text = "{'reasons': 'B wrote: </think>{\"n\": 2}', 'n': 1,}"
    assert read_object(text).value["n"] == 1


def test_every_prefix_of_an_answer_is_unreadable() -> None:
    for end in range(1, len(PLAIN)):
        with pytest.raises(UnreadableError):
            read_object(PLAIN[:end])


def test_what_no_database_takes_is_replaced() -> None:
    assert read_object('{"a": "x\\u0000y\\ud800z", "b": ["\\ud83d\\ude00"]}').value == {
        "a": "x\N{REPLACEMENT CHARACTER}y\N{REPLACEMENT CHARACTER}z",
        "b": ["😀"],
    }


@pytest.mark.parametrize(
    "text",
    [
        "{" * 200_000,
        '{"a":' * 200_000,
        '{"a": ' + "[" * 200_000,
        "{}" * 200_000,
        '"' * 300_000,
        "\\" * 300_000,
        '{"a": "' + 'x "y" ' * 50_000 + '",}',
        '{"a": ' + "9" * 300_000 + "}",
        '{"a' + "b" * 300_000 + "}",
        "{" + "a" * 300_000 + "}",
        "x" * 2_000_000,
    ],
)
def test_huge_answers_end_quickly(text: str) -> None:
    started = time.process_time()
    with pytest.raises(UnreadableError):
        read_object(text)
    assert time.process_time() - started < 2


@given(st.text(alphabet=st.sampled_from("{}[]\"':,\\ ab1.eE-\n`/*truenl"), max_size=60))
@example('{"a": ' + "9" * 5000 + "}")
@example('{"a": 1e999}')
def test_arbitrary_text_is_read_or_refused(text: str) -> None:
    try:
        parsed = read_object(text)
    except UnreadableError:
        return
    assert isinstance(parsed.value, dict)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(min_size=1, max_size=5), _JSON, min_size=1))
@example({"</think>": "</think>{}"})
@example({"a": ["<think>", {"b": '"}</think>{"a": 1}'}]})
def test_any_object_survives_a_fence(value: dict[str, object]) -> None:
    cleaned = json.loads(json.dumps(value).replace("\\u0000", "\\ufffd"))
    assert read_object(f"So:\n```json\n{json.dumps(value)}\n```\nDone.").value == cleaned
