"""How debates go on: the progress that an announcement shows, its end, alerts, skipped debates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from engine.values.language import N_
from engine.values.messages import Alert, Announcement, Phase, Progress, Reveal, Skipped, Where
from engine.values.text import headline, marked
from engine.words.buttons import again_buttons
from engine.words.card import DEBATE, Card, held_before, on_the_web, result_buttons
from engine.words.phrases import round_name, sided
from engine.words.reveal import QUOTED, WHY, model_line, outcome_line, stood_for
from engine.words.translation import say

STATE = N_("State")
STATES: Mapping[Phase, str] = {
    "queued": N_("⏳ Waiting to start"),
    "asked": N_("⏳ Waiting for the person who was asked to argue. See {thread}."),
    "running": N_("🗣️ {round}{turns} of {total} turns posted in {thread}"),
    "judging": N_("⚖️ The jury is reading. All {total} turns are in {thread}."),
    "voting": N_("🗳️ Vote now in {thread}: closes {until}"),
    "closed": N_("✅ Read the whole debate in {thread}"),
    "partial": N_("🟠 Ended early. {reason}"),
    "cancelled": N_("⏹️ Stopped. {reason}"),
    "failed": N_("❌ Failed. {reason}"),
    "gone": N_("❌ Ended: its thread is gone, or Rostrum may not post there. {reason}"),
}
OVER: Mapping[Where, str] = {
    "thread": STATES["closed"],
    "channel": N_("✅ The result is in this channel, as {thread} takes no messages"),
    "starter": N_(
        "✅ Finished. Nothing can be posted here, so the person who started it got "
        "the result privately."
    ),
    "waiting": N_("✅ Finished. The result is being posted in {thread}."),
    "nowhere": N_(
        "✅ Finished, but the result could not be posted. The command `result` shows it."
    ),
}
VOTE_TIED = N_("🗳️ Vote now in {thread}: closes {until}, together with its mirror {mirror}")
WRITES = N_("✍️ {writing} is writing the {round} · {turns} of {total} turns posted in {thread}")
WRITE = N_("✍️ {writing} are writing the {round} · {turns} of {total} turns posted in {thread}")
REASON_LENGTH = 500  # characters
SCHEDULE = N_("Schedule")
ALERT_TITLE = N_("Warning")
UNNAMED: Mapping[str, str] = {
    "deleted": N_(
        "In debate {code} both sides now speak under Rostrum's own name, as its webhook in the "
        "channel was deleted. Rostrum makes a new one for later debates; take Manage Webhooks from "
        "it if you do not want that."
    ),
    "full": N_(
        "In debate {code} both sides speak under Rostrum's own name, as the channel has as "
        "many webhooks as Discord allows. Delete one that is not needed."
    ),
    "refused": N_(
        "In debate {code} a side speaks under Rostrum's own name, as this platform does not "
        "allow the name that it was given. Nothing needs to be done."
    ),
    "scope": N_(
        "In debate {code} both sides speak under Rostrum's own name, as it lacks the scope "
        "chat:write.customize. An admin can add it to the app and reinstall the app."
    ),
}


def progressed(
    progress: Progress, *, thread: str, until: str = "", escape: Callable[[str], str] = str
) -> str:
    """Return a debate's progress; `thread` and `until` are already in the chat's own format."""
    named = round_name(progress.round) if progress.round else ""
    return say(
        _state(progress),
        turns=progress.turns,
        total=progress.total or progress.turns,
        round=named if progress.writing or not named else say("{round}: ", round=named),
        writing=say(", ").join(map(marked, progress.writing)),
        thread=thread,
        until=until,
        mirror=progress.mirror,
        reason=escape(headline(say(progress.reason), REASON_LENGTH)),
    )


def _state(progress: Progress) -> str:
    if progress.phase in ("running", "voting") and progress.reason:
        return N_("⏳ {reason} See {thread}.")
    if progress.phase == "running" and progress.writing and progress.total:
        return WRITES if len(progress.writing) == 1 else WRITE
    if progress.phase == "running" and not progress.total:
        return (
            N_("✍️ {writing} is writing the {round} · {turns} turns posted in {thread}")
            if progress.writing
            else N_("🗣️ {round}{turns} turns posted in {thread}")
        )
    if progress.phase == "voting" and progress.mirror:
        return (
            N_("🗳️ Vote now in {thread}: closes together with its mirror {mirror}")
            if progress.until is None
            else VOTE_TIED
        )
    if progress.phase == "closed":
        return OVER[progress.revealed or "thread"]
    return STATES[progress.phase]


def news_card(debate: Announcement, progress: Progress, result: Reveal) -> Card:
    """Return what an announcement becomes at the end: the outcome, and why."""
    # While people vote on a mirror there is no rematch.
    two = debate.contenders == ("A", "B")
    again = () if progress.veiled else again_buttons(debate.code, two=two)
    return Card(
        say(DEBATE),
        "info",
        debate.topic,
        code=debate.code,
        lines=(
            *news_lines(result, veiled=progress.veiled),
            *tuple(reversed(held_before(debate.before))),
            *on_the_web(debate.page),
        ),
        state=progress,
        buttons=(*result_buttons(debate.code), *again),
    )


def alert_card(alert: Alert) -> Card:
    """Return the card of what managers have to know."""
    return Card(say(ALERT_TITLE), "warning", lines=tuple(_alerted(alert)))


def _alerted(alert: Alert) -> Iterator[str]:
    if alert.unnamed:
        yield say(UNNAMED[alert.unnamed], code=alert.code)
        return
    yield say(
        "Today's debates in this community have used or reserved at least {percent:g} % of the "
        "{usd:.2f} USD for a day. Debate {code} passed that mark. Once nothing is left, new "
        "debates have to wait until tomorrow (UTC).",
        percent=alert.percent,
        usd=alert.usd,
        code=alert.code,
    )
    yield say(
        "`/debate settings` shows the amount and can lower it; the operator of Rostrum can raise "
        "it."
    )


def skipped_card(skipped: Skipped) -> Card:
    """Return the card of a scheduled debate that was skipped."""
    said = say(
        "The debate of {due} was skipped. {why}",
        due=skipped.due,
        why=say(skipped.why),
    )
    return Card(
        say(SCHEDULE),
        "info",
        lines=(
            said,
            say(
                "Next one: {time}. As long as the cause is the same, this is not said again.",
                time=skipped.following,
            ),
        ),
    )


def news_lines(reveal: Reveal, *, veiled: bool = False) -> Iterator[str]:
    """Yield a result in short, for where people did not read the debate; `veiled`: no models."""
    yield f"🏁 {outcome_line(reveal)}"
    if veiled:
        yield " · ".join(sided(side, stood_for(reveal)) for side in reveal.models)
    else:
        yield say(", ").join(who_was_who(reveal))
    if reveal.why is not None and reveal.why.text:
        yield say(QUOTED if reveal.why.quoted else WHY, text=reveal.why.text)


def who_was_who(reveal: Reveal) -> Iterator[str]:
    """Yield which model each side was."""
    captions = stood_for(reveal)
    for side, model in reveal.models.items():
        yield say(model_line(model), side=sided(side, captions), model=model)
