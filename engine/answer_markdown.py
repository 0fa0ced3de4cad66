"""What a chat command answers, in words: canonical Markdown, which an adapter need only show.

Every sentence of an answer is written here, ready for translation, but for those of statistics
(engine/stats/markdown.py); errors carry their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.answers import (
    AgreementAnswer,
    Answer,
    DebatesAnswer,
    FileAnswer,
    ForgottenAnswer,
    FormatsAnswer,
    HelpAnswer,
    LeaderboardAnswer,
    ModelsAnswer,
    NoFileAnswer,
    OptedAnswer,
    PrivacyAnswer,
    ResultAnswer,
    ReviewAnswer,
    RevisedAnswer,
    SettingsAnswer,
    StartedAnswer,
    StatusAnswer,
    StoppedAnswer,
    TopicsAnswer,
)
from engine.debate import TIE, WEAK, Estimate, Persuasion, Status, Tally, Verdict
from engine.invocation import USAGES
from engine.messages import JurorLine, Reveal
from engine.review_markdown import review_lines, revised_lines
from engine.stats.markdown import agreement_lines, leaderboard_lines
from engine.store import Traces
from engine.text import headline
from engine.topics import Topic

TOPIC_LENGTH = 200  # characters


def to_markdown(answer: Answer, prefix: str = "/debate", link: Callable[[str], str] = str) -> str:
    """Write an answer as Markdown; `prefix` is how this platform's commands begin.

    `link` returns a thread as this platform shows a link to it.
    """
    return "\n".join(_lines(answer, prefix, link))


def _lines(  # noqa: C901 - one case an answer
    answer: Answer, prefix: str, link: Callable[[str], str]
) -> Iterator[str]:
    match answer:
        case StartedAnswer():
            yield from _started(answer)
        case StoppedAnswer():
            yield STOPPED[answer.what].format(code=answer.debate.code)
        case StatusAnswer():
            yield from _status(answer)
        case ResultAnswer():
            yield from _result(answer)
        case DebatesAnswer():
            yield from _debates(answer)
        case ModelsAnswer():
            yield from _models(answer)
        case TopicsAnswer():
            yield from (f"- {_topic(topic)}" for topic in answer.topics)
        case FormatsAnswer():
            yield from _formats(answer)
        case SettingsAnswer():
            yield from _settings(answer)
        case FileAnswer():
            yield _plural(EXPORTED, answer.debates, name=answer.name)
        case NoFileAnswer():
            yield _no_file(answer)
        case AgreementAnswer():
            yield from agreement_lines(answer.agreement)
        case LeaderboardAnswer():
            yield from leaderboard_lines(answer.leaderboard)
        case ReviewAnswer():
            yield from review_lines(answer, prefix, link)
        case RevisedAnswer():
            yield from revised_lines(answer)
        case HelpAnswer():
            yield from _help(answer, prefix)
        case PrivacyAnswer():
            yield from _privacy(answer.traces, prefix)
        case ForgottenAnswer():
            yield from _forgotten(answer, prefix)
        case OptedAnswer():
            yield _opted(answer, prefix)


# --- texts -------------------------------------------------------------------------------

STARTED = "Debate `{code}` is queued: **{topic}**"
MIRRORED = "Debate `{code}` is its mirror: the same with sides exchanged, in a thread of its own."
ESTIMATE = "It takes about {calls} model calls (at most {calls_max}), {minutes}, {cost}."
COST = "{usd:.2f} USD (at most {usd_max:.2f})"
COST_UNKNOWN = "at a cost that nobody knows"
SOON = "less than a minute"
MINUTES = ("about {n} minute", "about {n} minutes")
CHOSEN = "You chose {what}. Nobody else is told before the reveal."
WARNING = "⚠ {warning}"
STOPPED = {
    "debate": "Debate `{code}` is asked to stop; what was said so far is kept.",
    "vote": "The vote on debate `{code}` is closed; the reveal follows in its thread.",
}

ABOUT = "Debate `{code}`: **{topic}**"
STATUSES = {
    Status.QUEUED: "It waits for its turn.",
    Status.RUNNING: "It runs: {turns} of {total} turns are held.",
    Status.VOTING: "All turns are held; the vote opens when they are posted.",
    Status.CLOSED: "It is over, and the models are named in its thread.",
    Status.PARTIAL: "It stopped before its end, at its cap on spending.",
    Status.CANCELLED: "It was stopped.",
    Status.FAILED: "It could not go on; whoever runs Rostrum can see why, and resume it.",
}
RUNS_BY_THE_CLOCK = "It runs: {turns} turns are held."
JUDGING = "All {total} turns are held; the jury reads them."
VOTE_LEFT = "The vote is open for {minutes}."
VOTE_DUE = "The vote is being closed."
SEALED = "Nothing is told before the vote has closed."
NO_RESULT = "It has no result."

NO_DEBATES = "No debate was held here yet; start one."
STATES = {
    Status.QUEUED: "waits",
    Status.RUNNING: "runs",
    Status.VOTING: "vote open",
    Status.CLOSED: "over",
    Status.PARTIAL: "incomplete",
    Status.CANCELLED: "stopped",
    Status.FAILED: "failed",
}
DEBATE = "- `{code}` {state}, {when:%Y-%m-%d %H:%M} UTC, {format}: {topic}"
DEBATERS = "**May debate here**"
JURORS = "**Judge here**"
NONE = "none"
FORMAT = ("- `{name}`: {n} contender", "- `{name}`: {n} contenders")
FORMAT_OPTIONS = "{format}; options {options}"
CHANGED = "Changed: {names}."
SETTING = "- `{name}`: {value}"
SETTING_OWN = "- `{name}`: {value} (set here)"
UNSET = {"models": NONE, "jurors": NONE, "channels": "all channels", "manager_role": NONE}
NO_CAP = "no cap"
SETTINGS_HOW = "Change one with name=value; the value `default` undoes it."

EXPORTED = ("`{name}` has {n} revealed debate.", "`{name}` has {n} revealed debates.")
NOTHING_TO_EXPORT = "No debate was revealed here yet, so there is nothing to export."
TOO_LARGE = (
    "The export has {size:.1f} MiB, more than the {most:.1f} MiB that can be sent here. Whoever "
    "runs Rostrum writes it with: `rostrum export --out FOLDER --community {community}`"
)

HELP = (
    "Rostrum holds debates between AI models: a blind jury scores them and people vote. "
    "The models are named when the vote has closed.",
    "A debate is named by its code; without one, the debate of this channel or thread is meant.",
)
ABOUT_COMMANDS = {
    "start": "starts a debate; models left out are drawn at random",
    "cancel": "stops a debate (whoever started it, or a manager)",
    "close": "closes a vote early (managers)",
    "status": "says how far a debate is",
    "result": "shows how a debate ended",
    "list": "lists the debates held here",
    "models": "lists the models that may debate and judge here",
    "topics": "lists topics to start with",
    "formats": "lists the formats",
    "settings": "shows or changes what applies here (managers)",
    "export": "hands over the data of the revealed debates held here (managers)",
    "agreement": "says how far jury and people agree here",
    "leaderboard": "shows how people and jury rate the models here",
    "review": "offers revealed debates whose outcome is unclear, to say who debated better",
    "privacy": "says what is stored of you",
    "forget": "has you forgotten, at once and for good",
    "optout": "leaves you out of exports",
    "optin": "undoes that, or brings you back after you were forgotten",
    "help": "shows this",
}
OF_YOU = "**Of you**"
NOTHING_OF_YOU = "Nothing is stored of you."
YOU_ARE_FORGOTTEN = (
    "You asked to be forgotten: nothing says any more what you did, and nothing new is stored. "
    "What remains is a keyed hash of your id, by which you are known as somebody not to store. "
    "`{prefix} optin` brings you back."
)
TRACES = {
    "votes": ("a vote on {n} debate", "votes on {n} debates"),
    "stances": ("{n} stance on a topic", "{n} stances on topics"),
    "revisions": ("an answer after {n} reveal", "answers after {n} reveals"),
    "thumbs": ("thumbs on {n} turn", "thumbs on {n} turns"),
    "started": ("{n} debate that you started", "{n} debates that you started"),
}
YOUR_TRACES = "Your user id, under which there are: {what}."
YOUR_ENTRIES = (
    "With its time, {n} choice that you made or took back.",
    "With their times, {n} choices that you made or took back.",
)
ONLY_YOUR_ID = "Your user id, and nothing that you did."
YOU_OPTED_OUT = "You are left out of exports; `{prefix} optin` undoes it."
YOU_MAY_OPT_OUT = "You are in exports, under a pseudonym; `{prefix} optout` leaves you out."
YOU_CAME_BACK = "You came back on {since:%Y-%m-%d}; debates begun before take no answers of yours."
YOU_MAY_BE_FORGOTTEN = "`{prefix} forget` deletes who you are from all of it."
FORGET_WHAT = (
    "Your user id is deleted everywhere, at once and for good: nobody can tell any more what you "
    "chose or started. Your votes still count; exports do not show them. Nothing that you do from "
    "then on is stored, so you cannot vote or start debates, and debates of yours that still run "
    "can be stopped by a manager only. A keyed hash of your id stays, so that you are not stored "
    "again. What you wrote into a topic stays."
)
FORGET_HOW = "If that is what you want: `{prefix} forget confirm=yes`"
FORGOTTEN = "You are forgotten. Your votes count on, and nobody can tell that they were yours."
FORGOTTEN_SOON = (
    "An export is being made of an older state of the database; your id is overwritten in it as "
    "soon as that is done."
)
BACK_HOW = "Should you want to take part again: `{prefix} optin`"
ALREADY_FORGOTTEN = "You are forgotten, and so in no export anyway."
OPTED_OUT = (
    "From now on, exports show nothing of you; what you chose still counts. Exports made before "
    "are with those who have them. `{prefix} optin` undoes it."
)
OPTED_IN = "Exports show what you chose, under a pseudonym."
CAME_BACK = (
    "Welcome back. You can vote on debates that begin from now on, and start debates from tomorrow "
    "(UTC): what you did before you were forgotten stays unknown."
)
PRIVACY = """**What is stored**
- Of a debate: its topic and conditions, who started it and in which channel, every request to a \
model and its reply, the jury's ballots.
- Of a vote: what was chosen and taken back, by whom, and when.
- Of people: the platform's user id, in one table, which gives it a number; everything else knows \
the number only. No name, no picture, and no message but what a command was given.
- Of this community: its id and its settings; the settings are deleted when Rostrum is removed, \
and its debates some weeks later.
**Who gets it**
- The models of a debate get its topic, conditions and speeches; of people they learn nothing.
- Exports are made by managers (this community's debates) and by whoever runs Rostrum. Voters are \
in them under pseudonyms that differ from export to export.
Debates are kept until whoever runs Rostrum deletes them."""

OPTIONS = {TIE: "tie", WEAK: "both weak"}
REVEALED = "**{side}** was `{model}`"
DRAWN = "**{side}** was `{model}`, drawn at random"
PEOPLE = "People: {counts}; {outcome}."
PEOPLE_CHOSE = "they chose {winner}"
NO_WINNER = "too few votes for a winner"
NO_VOTES = "nobody voted"
JURY = "Jury: {outcome} ({valid} valid ballots, {invalid} invalid)."
NO_VERDICT = "no verdict, {problem}"
JUROR = "- `{juror}`: {verdict}"
JUROR_INVALID = "- `{juror}`: invalid, {problem}"
AGREE = {
    True: "People and jury agree.",
    False: "People and jury disagree.",
    None: "People and jury cannot be compared.",
}
PERSUADED = (
    "Moved towards: {moved}, of {n} person who took a stance twice.",
    "Moved towards: {moved}, of {n} people who took a stance twice.",
)
SPENT = ("It took {n} model call, {cost}.", "It took {n} model calls, {cost}.")
SPENT_USD = "{usd:.4f} USD"


# --- answers -----------------------------------------------------------------------------


def _started(answer: StartedAnswer) -> Iterator[str]:
    yield STARTED.format(code=answer.debate.code, topic=_headline(answer.debate.topic))
    if answer.mirror:
        yield MIRRORED.format(code=answer.mirror.code)
    yield _estimate(answer.estimate)
    chosen = [f"`{model}` for {side}" for side, model in answer.models.items()]
    if answer.jurors:
        chosen.append("the jury " + ", ".join(f"`{juror}`" for juror in answer.jurors))
    if chosen:
        yield CHOSEN.format(what=" and ".join(chosen))
    yield from (WARNING.format(warning=warning) for warning in answer.warnings)


def _estimate(estimate: Estimate) -> str:
    cost = COST_UNKNOWN
    if estimate.usd is not None and estimate.usd_max is not None:
        cost = COST.format(usd=estimate.usd, usd_max=estimate.usd_max)
    return ESTIMATE.format(
        calls=estimate.calls,
        calls_max=estimate.calls_max,
        minutes=_minutes(estimate.minutes),
        cost=cost,
    )


def _status(answer: StatusAnswer) -> Iterator[str]:
    debate = answer.debate
    yield ABOUT.format(code=debate.code, topic=_headline(debate.topic))
    if debate.status is Status.VOTING and answer.minutes_left is not None:
        yield _vote_left(answer.minutes_left)
    elif debate.status is Status.RUNNING and not answer.turns_total:
        yield RUNS_BY_THE_CLOCK.format(turns=answer.turns)
    elif debate.status is Status.RUNNING and answer.turns >= answer.turns_total:
        yield JUDGING.format(total=answer.turns_total)
    else:
        yield STATUSES[debate.status].format(turns=answer.turns, total=answer.turns_total)


def _vote_left(minutes: float) -> str:
    return VOTE_LEFT.format(minutes=_minutes(minutes)) if minutes > 0 else VOTE_DUE


def _result(answer: ResultAnswer) -> Iterator[str]:
    debate = answer.debate
    yield ABOUT.format(code=debate.code, topic=_headline(debate.topic))
    if answer.reveal is not None:
        yield from _reveal(answer.reveal)
    elif debate.status in (Status.QUEUED, Status.RUNNING, Status.VOTING):
        if answer.minutes_left is not None:
            yield _vote_left(answer.minutes_left)
        yield SEALED
    else:
        yield STATUSES[debate.status]
        yield NO_RESULT


def _debates(answer: DebatesAnswer) -> Iterator[str]:
    if not answer.debates:
        yield NO_DEBATES
    for debate in answer.debates:
        yield DEBATE.format(
            code=debate.code,
            state=STATES[debate.status],
            when=debate.created_at,
            format=debate.format,
            topic=_headline(debate.topic, 100),
        )


def _models(answer: ModelsAnswer) -> Iterator[str]:
    for title, models in ((DEBATERS, answer.models), (JURORS, answer.jurors)):
        yield title
        yield from (f"- `{model}`" for model in models or (NONE,))


def _topic(topic: Topic) -> str:
    return f"{topic.text} ({topic.conditions})" if topic.conditions else topic.text


def _formats(answer: FormatsAnswer) -> Iterator[str]:
    for line in answer.formats:
        said = _plural(FORMAT, len(line.contenders), name=line.name)
        options = ", ".join(f"`{option}`" for option in line.options)
        yield FORMAT_OPTIONS.format(format=said, options=options) if options else said


def _settings(answer: SettingsAnswer) -> Iterator[str]:
    if answer.changed:
        yield CHANGED.format(names=", ".join(answer.changed))
    for setting in answer.settings:
        template = SETTING_OWN if setting.own else SETTING
        yield template.format(name=setting.name, value=setting.value or unset(setting.name))
    yield SETTINGS_HOW


def unset(name: str) -> str:
    """Say what applies while nobody has set a setting."""
    return UNSET.get(name, NO_CAP)


def _no_file(answer: NoFileAnswer) -> str:
    if not answer.bytes:
        return NOTHING_TO_EXPORT
    size, most = answer.bytes / 2**20, answer.bytes_max / 2**20
    return TOO_LARGE.format(size=size, most=most, community=answer.community)


def _privacy(traces: Traces, prefix: str) -> Iterator[str]:
    yield OF_YOU
    if traces.forgotten:
        yield YOU_ARE_FORGOTTEN.format(prefix=prefix)
    else:
        yield from _own(traces)
        opted = YOU_OPTED_OUT if traces.opted_out else YOU_MAY_OPT_OUT
        yield opted.format(prefix=prefix)
        yield YOU_MAY_BE_FORGOTTEN.format(prefix=prefix)
    yield PRIVACY


def _own(traces: Traces) -> Iterator[str]:
    counts = {name: getattr(traces, name) for name in TRACES}
    held = [_plural(TRACES[name], n) for name, n in counts.items() if n]
    if held:
        yield YOUR_TRACES.format(what=", ".join(held))
    else:
        yield ONLY_YOUR_ID if traces.known else NOTHING_OF_YOU
    if traces.entries:
        yield _plural(YOUR_ENTRIES, traces.entries)
    if traces.since is not None:
        yield YOU_CAME_BACK.format(since=traces.since)


def _forgotten(answer: ForgottenAnswer, prefix: str) -> Iterator[str]:
    if answer.done:
        yield FORGOTTEN
        if answer.rest:
            yield FORGOTTEN_SOON
        yield BACK_HOW.format(prefix=prefix)
    elif answer.traces.forgotten:
        yield YOU_ARE_FORGOTTEN.format(prefix=prefix)
    else:
        yield from _own(answer.traces)
        yield FORGET_WHAT
        yield FORGET_HOW.format(prefix=prefix)


def _opted(answer: OptedAnswer, prefix: str) -> str:
    if answer.out:
        return ALREADY_FORGOTTEN if answer.forgotten else OPTED_OUT.format(prefix=prefix)
    return CAME_BACK if answer.back else OPTED_IN


def _help(answer: HelpAnswer, prefix: str) -> Iterator[str]:
    if answer.command is not None:
        yield f"`{prefix} {USAGES[answer.command]}` {ABOUT_COMMANDS[answer.command]}"
        return
    yield from HELP
    for name, about in ABOUT_COMMANDS.items():
        yield f"- `{prefix} {name}` {about}"


def _reveal(reveal: Reveal) -> Iterator[str]:
    for side, model in reveal.models.items():
        yield (DRAWN if side in reveal.drawn else REVEALED).format(side=side, model=model)
    yield _people(reveal.tally)
    yield _jury(reveal.verdict)
    yield from (_juror(line) for line in reveal.jurors)
    yield AGREE[reveal.agree]
    if reveal.persuasion is not None:
        yield _persuasion(reveal.persuasion)
    cost = COST_UNKNOWN if reveal.usd is None else SPENT_USD.format(usd=reveal.usd)
    yield _plural(SPENT, reveal.calls, cost=cost)


def _people(tally: Tally) -> str:
    counts = " · ".join(f"{_option(option)} {n}" for option, n in tally.counts.items())
    outcome = NO_WINNER if any(tally.counts.values()) else NO_VOTES
    if tally.winner is not None:
        outcome = PEOPLE_CHOSE.format(winner=_option(tally.winner))
    return PEOPLE.format(counts=counts, outcome=outcome)


def _persuasion(persuasion: Persuasion) -> str:
    moved = " · ".join(f"{side} {n}" for side, n in persuasion.moved.items())
    return _plural(PERSUADED, persuasion.people, moved=moved)


def _jury(verdict: Verdict) -> str:
    outcome = NO_VERDICT.format(problem=verdict.problem)
    if verdict.winner is not None:
        outcome = _option(verdict.winner)
    return JURY.format(outcome=outcome, valid=verdict.valid, invalid=verdict.invalid)


def _juror(line: JurorLine) -> str:
    if line.verdict is None:
        return JUROR_INVALID.format(juror=line.juror, problem=line.problem)
    return JUROR.format(juror=line.juror, verdict=_option(line.verdict))


def _option(option: str) -> str:
    return OPTIONS.get(option, option)


def _minutes(minutes: float) -> str:
    return SOON if minutes < 1 else _plural(MINUTES, round(minutes))


def _headline(topic: str, limit: int = TOPIC_LENGTH) -> str:
    return headline(topic, limit)


def _plural(forms: tuple[str, str], n: int, **more: object) -> str:
    return forms[n != 1].format(n=n, **more)
