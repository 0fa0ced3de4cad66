"""What each juror wrote, and the marks that the jury gave; Markdown for any chat."""

from __future__ import annotations

from collections.abc import Iterator

from engine.messages import Reveal
from engine.words.phrases import option_name
from engine.words.translation import number, say

REASON = "- `{juror}` for **{winner}**: {text}"
MARKS = "**Mean marks:**"


def reason_lines(reveal: Reveal) -> Iterator[str]:
    """Yield each juror's reasons, and below them the mean marks for each criterion."""
    heard = set[str]()
    for line in reveal.jurors:
        if line.reasons and line.verdict and line.juror not in heard:
            heard.add(line.juror)
            winner = option_name(line.verdict, reveal.names)
            yield say(REASON, juror=line.juror, winner=winner, text=line.reasons)
    if reveal.marks:
        yield ""
        yield say(MARKS)
    criteria = dict.fromkeys(name for sheet in reveal.marks.values() for name in sheet)
    for criterion in criteria:
        marks = (
            f"{option_name(side, reveal.names)} {number(sheet[criterion], '.1f')}"
            for side, sheet in reveal.marks.items()
        )
        yield f"- {say(criterion)}: {' · '.join(marks)}"
