"""What a debate's page adds by format, and its calls: changes, budgets, waiting."""

from datetime import UTC, datetime
from typing import Any

from engine.dataset.page import PageTurn
from engine.pages.assembly import call_page, calls_page
from engine.pages.debate_page import PageTry
from engine.pages.head import Item
from engine.pages.parts import free_speeches, revisions
from engine.values.limits import TeamLimits

ITEM = Item("01J", "01j", "Tea", "closed", "classic", "en", "memory", "", "", datetime.now(UTC), ())


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
    assert list(found[2].parts) == [
        ("kept", "Offices are loud and homes are"),
        ("out", "quiet, so stay at home."),
        ("in", "often quiet."),
    ]
    assert (found[2].out, found[2].new) == (5, 2)
    assert [kind for kind, _ in found[3].parts] == ["kept"], "what stayed is no change"


def test_a_revision_is_compared_by_characters_where_no_spaces_part_words() -> None:
    found = revisions(drafts("远程办公更有效率。", "远程办公可能更有效率。"))
    assert list(found[2].parts) == [
        ("kept", "远程办公"),
        ("in", "可能"),
        ("kept", "更有效率。"),
    ]


def test_far_from_a_change_a_revision_is_left_out() -> None:
    long = " ".join(f"w{n}" for n in range(40))
    (change,) = revisions(drafts(f"{long} old.", f"{long} new.")).values()
    assert change.parts[0][1] == "… w34 w35 w36 w37 w38 w39"


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


def test_what_a_long_prompt_shares_with_the_one_before_is_folded() -> None:
    tries = [
        PageTry(n, f"judge/absolute/{n}", 1, "a/b", True, 1, 0, 1, 0.0, 1.0, float(n))
        for n in (1, 2)
    ]
    head = "The record so far, of which a judge reads all.\n" * 3

    def asked(text: str) -> dict[str, Any]:
        messages = [{"role": "system", "content": "Judge."}, {"role": "user", "content": text}]
        return {"messages": messages, "reply": "", "error": "", "schema": ""}

    before, now = asked(f"{head}Turn 1."), asked(f"{head}Turn 2.")
    page = call_page(ITEM, tries, 2, now, before)
    assert (page.shared, page.same) == (1, len(head))
    assert call_page(ITEM, tries, 2, before, before).same == 0, "all of it is shared"
    assert call_page(ITEM, tries, 2, asked("Turn 2."), asked("Turn 1.")).same == 0


def test_a_second_try_says_how_long_after_the_first_it_began() -> None:
    first = PageTry(1, "turn/opening/A", 1, "a/b", False, None, None, None, None, None, 2.0, "500")
    second = PageTry(2, "turn/opening/A", 2, "a/b", True, 1, 0, 1, 0.0, 1.0, 5.5)
    page = calls_page(ITEM, [first, second], 1, kept=True)
    assert [one.waited for one in page.tries] == [0.0, 3.5]
