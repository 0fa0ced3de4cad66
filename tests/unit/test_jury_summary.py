"""The neutral summary: what its juror is sent, and what becomes of the answer."""

import pytest

from adapters.models.scenes import RehearsalOptions, Scene
from adapters.models.speeches import LANGUAGES, compose
from engine.formats.classic import Classic
from engine.jury.panel import open_transcript, summarise
from engine.prompts import load_prompts
from engine.values.debate import Status
from engine.values.errors import BudgetError, ModelError, RostrumError
from engine.values.verdicts import Summary
from tests.kit import ScriptedHost, new_debate, setup_of, stage_on, stored, tell

SENTENCE = "Avocet spoke of what tea costs, and Wagtail of coffee alone. "
SHOWN = "🔵 A spoke of what tea costs, and 🔴 B of coffee alone. "  # 50 without the marks
FITTING = SENTENCE * 9 + "So A ends."


def written(text: str) -> int:
    """Return how many characters a juror wrote of a text, who writes no marks."""
    return len(text.replace("🔵 ", "").replace("🔴 ", ""))


async def summary_by(*answers: str | RostrumError) -> tuple[Summary, ScriptedHost]:
    told = iter(answers)
    host = ScriptedHost(lambda step: next(told) if step.startswith("summary") else tell(step))
    setup = setup_of()
    await Classic().run(stage_on(host, setup))
    debate = stored(new_debate(setup=setup), status=Status.RUNNING)
    writer = open_transcript(debate)
    return await summarise(debate, host.turns, load_prompts(), host, writer), host


async def test_one_juror_reads_the_whole_debate_blind_and_is_asked_for_no_judgment() -> None:
    summary, host = await summary_by(FITTING)
    (call,) = [call for call in host.asked if call.step.startswith("summary")]
    assert call.model.ref == "near/j2"
    sent = "\n".join(message.content for message in call.messages)
    assert "400 to 600 characters" in sent
    assert "Avocet" in sent
    assert "Wagtail" in sent
    assert sent.count("> Words of") == 8
    for name in ("ana", "ben", "j1", "Side A", "side B"):
        assert name not in sent
    assert "who did better" in sent
    assert summary == Summary(text=SHOWN * 9 + "So A ends.", fit="as_written")
    assert written(summary.text) == 460


@pytest.mark.parametrize(
    ("answer", "length", "fit"),
    [
        (SENTENCE * 13, 599, "trimmed"),
        ("word " * 200, 600, "cut"),
        ("Short. " * 20, 139, "too_short"),
        (SENTENCE * 8 + "x", 401, "as_written"),
        ("Long sentence " * 24 + "ends. " + SENTENCE * 6, 591, "trimmed"),
        ("Long sentence " * 24 + "ends. " + "word " * 80, 341, "trimmed"),
        ("字" * 300 + "。" + "字" * 250 + "。" + "字" * 100, 552, "trimmed"),
    ],
)
async def test_one_outside_is_cut_at_a_sentence_or_marked(
    answer: str, length: int, fit: str
) -> None:
    summary, host = await summary_by(answer)
    assert [step for step in host.steps if step.startswith("summary")] == ["summary"]
    assert (written(summary.text), summary.fit) == (length, fit)
    assert fit != "trimmed" or summary.text[-1] in ".。"


async def test_a_juror_that_cannot_be_asked_leaves_no_summary_and_says_why() -> None:
    summary, _ = await summary_by(ModelError("Backend “near” is away."))
    assert summary == Summary(problem="no answer: failed")  # the backend's words stay in the log
    empty, _ = await summary_by("")
    assert empty == Summary(problem="the answer is empty")
    with pytest.raises(BudgetError):  # what stops a debate stops it
        await summary_by(BudgetError("too dear"))


@pytest.mark.parametrize("topic", ["", "W" * 200])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_rehearsal_sums_up_in_its_language_and_within_the_length(
    language: str, topic: str
) -> None:
    scene = Scene(topic=topic, language=language, kind="summary", shown=("Avocet", "Wagtail"))
    text = compose(scene, RehearsalOptions.of("maple"))
    assert "Avocet" in text
    assert "Wagtail" in text
    assert 400 <= len(text.replace("Avocet", "A").replace("Wagtail", "B")) <= 600
