"""An echo of a prompt's own example is no answer: not a score sheet, not a ballot, not a turn."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from engine.floor.shapes import example
from engine.floor.structured import example_texts
from engine.jury.ballot import ballot_schema, read_ballot
from engine.jury.explain import explain
from engine.jury.rubric import ANSWERS, DEBATE, Rubric
from engine.prompts.library import load_prompts
from engine.values.debate import Model, Sampling
from engine.values.ports import AnswerSchema, CallRole, ChatMessage, Reply
from tests.doubles.rehearsed import RehearsedDesk, hold, setup_for
from tests.unit.test_explain import GOOD, PROMPTS, Juror, case_of

JUDGED: dict[str, Any] = {"roundtable": {"options": {"judges": 1}}}
NAMES = {"A": "Heron", "B": "Plover"}
PLACEHOLDER = re.compile(r'"<([^">]+)>"')
# Values of an example that could be an answer: numbers, flags, empty lists, texts without brackets.
ANSWERS_IN_EXAMPLES = re.compile(
    r'"\w+": ?(?:-?\d|true(?! \|)|false|\[\]|\[\d|\[?"(?![<{]|\w+" \|)[^"]*")'
)


def _verbatim(prompt: str, schema: AnswerSchema) -> str:
    return prompt[prompt.rindex("\n\n{") :]


def _with_placeholder(prompt: str, schema: AnswerSchema) -> str:
    return example(schema.json_schema, f"<{PLACEHOLDER.findall(prompt)[0]}>")


def _without_brackets(prompt: str, schema: AnswerSchema) -> str:
    return example(schema.json_schema, f"{PLACEHOLDER.findall(prompt)[-1].capitalize()}.")


def _dots(prompt: str, schema: AnswerSchema) -> str:
    return example(schema.json_schema, "…")


ECHOES = (_verbatim, _with_placeholder, _without_brackets, _dots)


class Echo(RehearsedDesk):
    """Answers every question for JSON with an echo of its example."""

    def __init__(self, echo: Callable[[str, AnswerSchema], str]) -> None:
        super().__init__()
        self.echo, self.said = echo, dict[str, str]()

    async def call(
        self,
        step: str,
        model: Model,
        messages: Sequence[ChatMessage],
        sampling: Sampling,
        *,
        schema: AnswerSchema | None = None,
        cue: Mapping[str, str] | None = None,
        role: CallRole = "debater",
    ) -> Reply:
        """Echo the example of a structured question; speak as a rehearsal model otherwise."""
        if schema is not None:
            asked = messages[-3 if step.endswith("/again") else -1].content
            self.said[step] = self.echo(asked, schema)
        self.twist = self.said.get
        return await super().call(
            step, model, messages, sampling, schema=schema, cue=cue, role=role
        )


@pytest.mark.parametrize("echo", ECHOES)
@pytest.mark.parametrize("format", ["audited", "classic", "roundtable", "structured", "team"])
async def test_an_echo_of_the_example_is_sent_back_once_and_never_a_score(
    format: str, echo: Callable[[str, AnswerSchema], str]
) -> None:
    desk = await hold(setup_for(format, **JUDGED.get(format, {})), Echo(echo))
    structured = {step for step in desk.asked if f"{step}/again" in desk.asked}
    assert structured == {
        step
        for step, messages in desk.asked.items()
        if PLACEHOLDER.search(messages[-1].content) and not step.endswith("/again")
    }
    assert structured
    assert not desk.scores
    spoilt = {"decision", "speech_score", "absolute", "pairwise", "marks", "judgment", "summary"}
    assert not [one.name for one in desk.artifacts.values() if one.kind in spoilt and one.valid]


@pytest.mark.parametrize("rubric", [DEBATE, ANSWERS])
@pytest.mark.parametrize("echo", ECHOES)
def test_an_echo_of_the_ballot_is_no_ballot(
    echo: Callable[[str, AnswerSchema], str], rubric: Rubric
) -> None:
    prompt = load_prompts().render(
        "jury/ballot",
        names=tuple(NAMES.values()),
        criteria=rubric.criteria,
        language="English (en)",
        tie_word="tie",
        answers=rubric is ANSWERS,
    )
    said = echo(prompt.partition("\n\nAll scores")[0], ballot_schema(tuple(NAMES.values()), rubric))
    outcome = read_ballot(said, "stop", NAMES, rubric, example_texts([prompt]))
    assert (outcome.valid, outcome.retry, outcome.scores) == (False, True, None)


@pytest.mark.parametrize(
    "changes",
    [
        {"decisive": "One sentence: why the jury decided so, at most 220 characters"},
        {"best": {"A": "<the best point of A, at most 140 characters>", "B": "A price."}},
        {"differed": "Where the jurors differed, at most 140 characters; empty if they did not."},
    ],
)
async def test_an_echo_of_the_example_is_no_reason_of_a_jury(changes: dict[str, Any]) -> None:
    why = await explain(case_of(), PROMPTS, Juror(json.dumps(GOOD | changes)))
    assert why is not None
    assert (why.text, why.problem) == ("", "it repeats the example of its prompt")


def test_no_example_holds_a_value_that_could_be_an_answer() -> None:
    for name, text in load_prompts().texts.items():
        if '{"' in text or '\n  "' in text:
            assert not ANSWERS_IN_EXAMPLES.findall(text.replace("{{ result }}", "<>")), name
