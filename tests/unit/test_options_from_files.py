"""`--option personas=@FILE`: a list of the format's options from a file, one entry a line."""

from pathlib import Path

import pytest

from bot.local.orders import order_of
from engine.values.debate import Setup
from engine.values.errors import UsageError
from tests.doubles.rehearsed import RehearsedHost, hold, setup_for

FILE = """\ufeff# Who sits at the table

a nurse, tired

  "a poet, from Rize"
“Nurse: nights, wards”
  # and one more
sceptic
"""


def setup_from(file: Path, agents: int = 4) -> Setup:
    """Return the setup of a roundtable whose personas are in a file."""
    given = {"option": [f"personas=@{file}", f"agents={agents}"], "format": "roundtable"}
    return setup_for("roundtable", options=dict(order_of(given).options), rounds=1)


def written(folder: Path, content: str | bytes) -> Path:
    file = folder / "personas.txt"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


async def test_each_line_is_a_persona_whatever_commas_and_quotes_it_has(tmp_path: Path) -> None:
    setup = setup_from(written(tmp_path, FILE))
    names = ["a nurse, tired", "a poet, from Rize", "Nurse", "Sceptic"]
    assert list(setup.called.values()) == names
    host = await hold(setup, RehearsedHost())
    for agent, text in enumerate(("a nurse, tired", "a poet, from Rize", "nights, wards"), 1):
        assert f"Your way of looking at things:\n> {text}\n" in host.said_to(f"turn/draft/{agent}")
    assert "which claim is weakest" in host.said_to("turn/draft/4")


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (b"Nurse: nights\nNurse: days\nnurse\nsceptic", ["Nurse", "Nurse 2", "nurse 3", "Sceptic"]),
        (
            b"Nurse 2: x\nNurse: y\nNurse: z\nNurse aide: a",
            ["Nurse 2", "Nurse", "Nurse 3", "Nurse aide"],
        ),
        (b'"Bo" and "Al"\r\na nurse\'s aide\r\n', ['"Bo" and "Al"', "a nurse's aide"]),
    ],
)
def test_agents_of_the_same_name_are_told_apart_and_quotes_stay(
    tmp_path: Path, content: bytes, names: list[str]
) -> None:
    setup = setup_from(written(tmp_path, content))
    assert list(setup.called.values())[: len(names)] == names


@pytest.mark.parametrize("content", ["", "\n\n", "# only a comment\n"])
def test_a_file_without_an_entry_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(UsageError, match=r"finds nothing in .*personas.txt: write one entry"):
        setup_from(written(tmp_path, content))


def test_a_file_that_cannot_be_read_or_has_too_many_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*none.txt: No such file or directory\."):
        setup_from(tmp_path / "none.txt")
    with pytest.raises(UsageError, match=r"cannot read .*: Is a directory\."):
        setup_from(tmp_path)
    with pytest.raises(UsageError, match=r"personas.txt: save it as UTF-8 text\."):
        setup_from(written(tmp_path, b"caf\xe9"))
    with pytest.raises(UsageError, match="3 personas are named for 2 agents"):
        setup_from(written(tmp_path, "a\nb, c\nd\n"), agents=2)
