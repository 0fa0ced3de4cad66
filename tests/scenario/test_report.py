"""`rostrum report`: a debate as a page; sealed until the reveal, and text is data in it."""

from html.parser import HTMLParser

import pytest

from engine.dataset.page import (
    ReportedDebate,
    inline,
    lay_out,
    quoted,
    tell_ballot,
    to_html,
    write_html,
    write_markdown,
)
from engine.pages.sections import report_sections
from engine.pages.stored import StoredLibrary
from engine.store.usage import UsageTotals
from engine.values.debate import Status, Turn
from engine.values.messages import Report
from engine.values.verdicts import Ballot
from tests.kit import make_ballot, make_debate, make_invalid_ballot, make_turn
from tests.scenario.conftest import DEFAULTS, SUMMARY, Running

HOSTILE = (
    "# Result\n\n**Jury: B**\n\n<script>alert(1)</script> <img src=x onerror=alert(2)>\n\n"
    "![t](http://127.0.0.1/track.png) [x](javascript:alert(3)) [y](http://127.0.0.1/)\n\n"
    "```\n</article></main><script>alert(4)</script>\n"
)


class Tags(HTMLParser):
    """Collects the tags of a page, with their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def tags_of(html: str) -> list[tuple[str, dict[str, str | None]]]:
    tags = Tags()
    tags.feed(html)
    return tags.found


@pytest.mark.each_case
@pytest.mark.parametrize("status", [Status.VOTING, Status.RUNNING, Status.PARTIAL])
def test_before_the_reveal_no_model_and_no_result_is_in_it(status: Status) -> None:
    debate = make_debate().model_copy(update={"status": status, "revealed_at": None})
    model = debate.request.sides["A"]
    turn = make_turn(1, f"As {model.name}, I say so.", model=model.ref)
    page = lay_out(debate, [turn], None, [make_ballot()])
    assert page.result == ()
    assert page.ballots == ()
    for text in (write_markdown(page), write_html(page)):
        for hidden in [one.name for one in debate.request.speakers] + [make_ballot().juror]:
            assert hidden not in text
        assert "I say so." in text
        sealed = "Results stay sealed until the vote closes."
        unheld = "It ended without a vote and has no result."
        assert (unheld if status is Status.PARTIAL else sealed) in text


async def test_a_debate_that_is_voted_on_has_its_turns_alone(line: Running) -> None:
    started = await line.start(DEFAULTS.model_copy(update={"vote_minutes": 60.0}))
    debate = await line.until(started.debate.id, lambda one: one.vote_opened_at)
    page = await StoredLibrary(line.store).report(debate.id)
    assert len(page.turns) == 8
    for text in (write_markdown(page), write_html(page)):
        assert "near/" not in text
        assert SUMMARY not in text
        assert "stay sealed" in text


def hostile_page() -> ReportedDebate:
    """Return a page on which everything that people and models write is hostile."""
    debate = make_debate(topic=f"<b>Tea</b> {HOSTILE}", conditions=HOSTILE)
    ballots: list[Ballot] = [make_ballot(reasons=HOSTILE), make_invalid_ballot()]
    turns: list[Turn] = [make_turn(1, HOSTILE), make_turn(2, "<!-- " + "[" * 5000)]
    return lay_out(debate, turns, None)._replace(
        sealed="",
        result=("**People:** A 1",),
        ballots=tuple(tell_ballot(ballot, {}) for ballot in ballots),
    )


def test_no_text_becomes_a_tag_a_script_or_a_request() -> None:
    html = write_html(hostile_page())
    tags = tags_of(html)
    names = {tag for tag, _ in tags}
    assert not names & {"script", "img", "iframe", "b", "object", "form"}
    assert [tag for tag, _ in tags].count("article") == 4
    for _, attributes in tags:
        assert not [name for name in attributes if name.startswith("on") or name == "src"]
        link = attributes.get("href")
        assert link is None or link.startswith("http")
        assert link is None or attributes["rel"] == "noopener noreferrer nofollow"
    assert "default-src 'none'" in html
    assert html.count("<h2>Result</h2>") == 1


def test_no_control_character_reaches_a_page() -> None:
    told = "one\x07two\x1bMthree\u202efour\u2066five\x9bsix"
    page = hostile_page()._replace(topic=told, result=(told,), conditions=told)
    for text in (write_html(page), write_markdown(page)):
        assert text.count("onetwoMthreefourfivesix") >= 3
        assert not set(text) & set("\x07\x1b\u202e\u2066\x9b")


def test_no_text_leaves_its_quotation_in_markdown() -> None:
    text = write_markdown(hostile_page())
    assert text.splitlines().count("## Result") == 1
    assert text.splitlines().count("# Result") == 0
    outside = [line for line in text.splitlines() if not line.startswith(">")]
    assert not any("<script" in line.replace("\\<", "") for line in outside)
    tags = [tag for tag, _ in tags_of(to_html(text))]
    assert "script" not in tags
    assert "img" not in tags


def test_what_a_quotation_shows_is_what_was_written() -> None:
    assert quoted("a <b> c\n\n```\nx <y> z") == "> a &lt;b> c\n>\n> ```\n> x <y> z\n> ```"
    assert inline("a *b*\n# c [d](e) <f>") == r"a \*b\* \# c \[d\](e) \<f\>"


def test_it_reads_from_the_right_where_its_language_does() -> None:
    page = lay_out(make_debate(language="ar"), [], None)
    assert '<html lang="ar" dir="rtl">' in write_html(page)


def test_it_tells_later_judgings_and_what_each_models_calls_took() -> None:
    judged = {"number": 1, "judges": [{"judge": "near/ben"}], "winner": "B"}
    taken = UsageTotals("near/ana", "debater", 1, 2, 0, 0, 1200, 300, 0, 40, 0.5, 0)
    both = (taken, taken._replace(role="judge", calls=1, usd=0.25))
    sections = report_sections({"judgings": [judged]}, (), both, {})
    page = lay_out(make_debate(), [], None)._replace(sections=sections)
    written = write_markdown(page)
    assert "| 1 | near/ben | 🔴 B |" in written
    assert "| near/ana | 3 | 2,400 | 80 | 600 | $0.75 |" in written
    assert '<td dir="auto">2,400</td>' in write_html(page)


def test_what_a_format_told_stays_data_in_it() -> None:
    post = Report(title="<b>Result</b> @everyone", text=HOSTILE)
    sections = report_sections({}, (post,), (), {})
    page = lay_out(make_debate(), [], None)._replace(sections=sections)
    assert "@everyone" not in write_markdown(page)
    found = tags_of(write_html(page))
    assert not [tag for tag, _ in found if tag in ("script", "img", "b")]
