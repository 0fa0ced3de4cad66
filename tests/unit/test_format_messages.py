"""What formats say in a thread, as plain Markdown and in the terminal."""

import io

import pytest
from rich.console import Console

from adapters.terminal.render import plain, pretty
from engine.values.messages import Arc, ArcPoint, BoardRow, File, Message, Report, ScoreBoard
from engine.words.cards import card_of
from engine.words.scores import board_lines, sparkline
from tests.doubles.rehearsed import hold, setup_for
from tests.doubles.venue import wording

BOARD = ScoreBoard(
    title="Scoreboard",
    columns=("sections", "total"),
    rows=(
        BoardRow(side="A", name="A1", cells=("3", "18.25")),
        BoardRow(side="B", name="B|1\nx", cells=("2", "-1.00")),
    ),
    notes=("Mean a speech: A 6.08.",),
)
ARC = Arc(
    title="The arc",
    points=(
        ArcPoint(number=1, side="A", score=0),
        ArcPoint(number=2, side="B", score=100),
        ArcPoint(number=3, side="A", score=None),
        ArcPoint(number=4, side="B", score=-20, docked=-2),
    ),
    alt="Score of 100 by turn: A1 0, B2 100.",
)
REPORT = Report(
    title="Decision briefing",
    text="**Tea** wins\n\n- 1",
    side="judge",
    files=(File(name="briefing.md", media="text/markdown", content="# x"),),
)


def drawn(message: Message) -> str:
    out = io.StringIO()
    console = Console(file=out, width=90, force_terminal=True, color_system="truecolor")
    console.print(pretty(message, "k7f2qz·1·1/1"))
    return out.getvalue()


@pytest.mark.parametrize("options", [{}, {"turns": 14}], ids=["team", "audited"])
async def test_a_formats_scoreboard_fits_a_phone(options: dict[str, int]) -> None:
    setup = setup_for("audited" if options else "team", options=options)
    host = await hold(setup)
    board = host.waiting(ScoreBoard)
    table = [line for line in board_lines(board) if line.startswith("|")]
    assert len(table) > 10
    assert max(map(len, table)) <= 40


def test_an_arc_a_report_and_a_file_show_what_they_hold() -> None:
    assert sparkline(ARC) == "▁█·▁"
    assert ARC.alt in card_of(ARC).text
    yellow, blue = "\x1b[33m", "\x1b[34m"
    assert yellow in drawn(REPORT)
    assert blue in drawn(REPORT.model_copy(update={"side": "A"}))
    assert REPORT.files[0].data() == b"# x"


@pytest.mark.parametrize("message", [BOARD, ARC, REPORT], ids=lambda message: message.kind)
def test_every_venue_without_a_better_way_says_all_of_it(
    message: Report | ScoreBoard | Arc,
) -> None:
    for text in (wording(message), plain(message, "ref"), drawn(message)):
        assert message.title in text
    assert "briefing.md" in wording(REPORT)
    assert "briefing.md" in plain(REPORT, "ref")
