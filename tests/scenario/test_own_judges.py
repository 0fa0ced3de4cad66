"""What `team`'s and `audited`'s own judges say, on the whole line: when it is read, and by whom."""

from collections.abc import Mapping

import orjson
import pytest

from adapters.models.attempts import RetryPolicy
from adapters.models.rehearsal import RehearsalModels
from engine.store import DebateRecord
from engine.values.debate import Scores
from engine.values.ports import Attempt, Call, Reply
from engine.values.protocols import AttemptLog
from engine.values.verdicts import Vote
from tests.doubles.hall import DEFAULTS, Hall
from tests.doubles.rehearsed import WARM

TEXTS = {"note", "summary", "review", "direction", "narrative", "explanation", "reason", "claim"}
TOLD = {  # whose words are read after the vote
    "team": ("captain/cross-1/B", "captain/cross-2/A", "judge/summary/opening", "judge/review"),
    "audited": ("judge/narrative", "judge/convergence", "judge/absolute/"),
}


class MarkingLog:
    """Passes tries on, and marks what judges and captains answer before it is journaled."""

    def __init__(self, log: AttemptLog, step: str) -> None:
        self._log = log
        self._step = step

    async def began(self, number: int) -> None:
        await self._log.began(number)

    def ended(self, attempt: Attempt, reply: Reply | None = None) -> None:
        self._log.ended(attempt, reply and self.mark(reply))

    def mark(self, reply: Reply) -> Reply:
        """Return a reply whose texts can be told from anything else."""
        if not self._step.startswith(("judge/", "captain/")):
            return reply
        text = orjson.dumps(self._marked(orjson.loads(reply.text), "")).decode()
        return reply.model_copy(update={"text": text})

    def _marked(self, value: object, key: str) -> object:
        match value:
            case dict():
                return {name: self._marked(item, name) for name, item in value.items()}
            case list():
                return [self._marked(item, key) for item in value]
            case str() if key in TEXTS:
                return f"{value} CANARY {self._step}/"
        return value


class MarkingModels(RehearsalModels):
    """The rehearsal models, with every word of a judge or captain marked by its step."""

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        marking = MarkingLog(log, call.step)
        return marking.mark(await super().complete(call, marking))


async def held(
    hall: Hall, format: str, scores: Scores
) -> tuple[str, str, DebateRecord, Mapping[str, Vote]]:
    """Hold a debate and vote on it: what was read before the reveal and since, what is kept."""
    limits = {"team": {"free_minutes": 1.2}}
    sampling = dict.fromkeys(WARM, DEFAULTS.sampling["debater"])
    changes = {"format": format, "scores": scores, "limits": limits, "sampling": sampling}
    async with hall.open(MarkingModels(RetryPolicy(tries=1))) as session:
        debate_id = await session.start(DEFAULTS.model_copy(update=changes), user="ann")
        await session.voting(debate_id)
        before = "\n".join(message.body for message in hall.thread())
        await session.vote(debate_id, ann="A", bob="B", cem="A")
        record = await session.close(debate_id)
        after = "\n".join(message.body for message in hall.thread()).removeprefix(before)
        votes = await session.votes(debate_id, "ann", "bob", "cem")
        return before, after, record, votes


@pytest.mark.parametrize("format", TOLD)
async def test_what_a_judge_or_captain_says_is_read_after_the_vote(hall: Hall, format: str) -> None:
    before, after, record, votes = await held(hall, format, Scores.AFTER_VOTE)
    assert "CANARY" not in before
    for step in TOLD[format]:
        assert f"CANARY {step}" in after
    assert {user: (vote.gold, vote.judge_visible) for user, vote in votes.items()} == {
        "ann": (False, False),  # who started it
        "bob": (True, False),
        "cem": (True, False),
    }
    assert record.verdicts[format].winner


@pytest.mark.parametrize("format", TOLD)
async def test_scores_that_are_read_live_leave_no_vote_gold(hall: Hall, format: str) -> None:
    before, _, _, votes = await held(hall, format, Scores.LIVE)
    assert ("Scoreboard" if format == "team" else "of 100: logic") in before
    for step in TOLD[format]:
        assert f"CANARY {step}" in before
    assert len(votes) == 3
    assert all(vote.judge_visible and not vote.gold for vote in votes.values())


@pytest.mark.parametrize("scores", Scores)
async def test_no_directive_is_ever_posted(hall: Hall, scores: Scores) -> None:
    before, after, record, _ = await held(hall, "audited", scores)
    directives = [a.body for a in record.artifacts if a.kind == "directive"]
    assert directives
    for line in (line for body in directives for line in str(body["directive"]).splitlines()):
        assert line not in before
        assert line not in after
    assert "For your eyes only" not in before + after
