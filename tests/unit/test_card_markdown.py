"""What a message says is said alike in every chat."""

from adapters.discord.render import parts as discord
from adapters.slack.render import parts as slack
from adapters.terminal.render import plain
from engine.chat.answers import to_markdown
from engine.chat.answers.debates import DebateLine, ResultAnswer
from engine.values.debate import Status
from engine.values.messages import JurorLine, Message, Progress
from engine.values.verdicts import Tally
from engine.words.cards import card_of
from tests.kit import announcement, make_debate, reveal

COUNTS = {"A": 0, "B": 0}
REVEAL = reveal(
    tally=Tally(counts=COUNTS, gold=COUNTS, quorum_met=False, winner=None),
    jurors=(JurorLine(juror="near/j1", verdict="tie", order=("A", "B")),),
    calls=8,
)


def everywhere(message: Message) -> tuple[str, str, str]:
    """Return what Discord and Slack are sent, and what the terminal shows."""
    (there,), (elsewhere,) = discord(message, "k7f2qz·3"), slack(message, "k7f2qz·3")
    return there.body, elsewhere.body, plain(message, "k7f2qz·3·1/1")


def test_a_result_shows_the_lines_of_the_reveal() -> None:
    debate = DebateLine.of(make_debate(1, status=Status.CLOSED))
    _, *lines = to_markdown(ResultAnswer(debate=debate, reveal=REVEAL)).splitlines()
    there, elsewhere, terminal = everywhere(REVEAL)
    assert "**🔵 A** (for it) was `near/ana`" in lines
    for said in lines:
        assert said in there
        assert said in elsewhere
        assert said.replace("**", "").replace("`", "") in terminal


def test_an_announcement_names_no_model_while_its_mirror_is_open() -> None:
    ended = Progress(phase="closed", turns=8, total=8, revealed="thread", result=REVEAL)
    for veiled in (False, True):
        message = announcement(progress=ended.model_copy(update={"veiled": veiled}))
        again = [] if veiled else ["Rematch", "Swap sides"]
        labels = [button.label for button in card_of(message).buttons]
        assert labels == ["Why?", "Details", *again]
        for shown in everywhere(message):
            assert ("near/" in shown) is not veiled
