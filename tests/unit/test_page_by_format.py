"""What a format adds to its debate's page: changes word by word, and budgets that run."""

from engine.dataset.page import PageTurn
from engine.pages.by_format import free_speeches, revisions
from engine.values.limits import TeamLimits


def drafts(*texts: str) -> list[PageTurn]:
    rounds = ("draft", "revision-1", "revision-2")
    return [
        PageTurn("1", "", text, "", number=number, step=f"turn/{name}/1")
        for number, (name, text) in enumerate(zip(rounds, texts, strict=False), 1)
    ]


def test_a_revision_is_compared_word_by_word_without_its_authors_remarks() -> None:
    before = "Offices are loud and homes are quiet, so stay at home."
    after = "Offices are loud and homes are often quiet.\n\n---\n\nI left out the advice."
    found = revisions(drafts(before, after, after))
    assert list(found) == [2, 3]
    assert [(one.kind, one.text) for one in found[2].parts] == [
        ("kept", "Offices are loud and homes are"),
        ("out", "quiet, so stay at home."),
        ("in", "often quiet."),
    ]
    assert (found[2].out, found[2].new) == (5, 2)
    assert [one.kind for one in found[3].parts] == ["kept"], "what stayed is no change"


def test_a_revision_is_compared_by_characters_where_no_spaces_part_words() -> None:
    found = revisions(drafts("远程办公更有效率。", "远程办公可能更有效率。"))
    assert [(one.kind, one.text) for one in found[2].parts] == [
        ("kept", "远程办公"),
        ("in", "可能"),
        ("kept", "更有效率。"),
    ]


def test_far_from_a_change_a_revision_is_left_out() -> None:
    long = " ".join(f"w{n}" for n in range(40))
    (change,) = revisions(drafts(f"{long} old.", f"{long} new.")).values()
    assert change.parts[0].text == "… w34 w35 w36 w37 w38 w39"


def test_a_board_shows_what_each_speech_left_of_both_budgets() -> None:
    steps = [("opening", "A1", 100), ("free-1", "A2", 60), ("free-2", "B3", 250)]
    spoken = [
        {"step": f"turn/{name}/{seat}", "number": number, "seat": seat, "words": words}
        for number, (name, seat, words) in enumerate(steps, 1)
    ]
    limits = TeamLimits(free_minutes=1, words_a_minute=120).numbers()
    first, second = free_speeches(spoken, limits)
    assert (first.seat, first.left) == ("A2", (("A", "0:30", 0.5), ("B", "1:00", 1.0)))
    assert second.left == (("A", "0:30", 0.5), ("B", "0:00", 0.0)), "over its time: nothing is left"
    assert free_speeches(spoken[:1], limits) == ()
