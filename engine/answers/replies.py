"""What a chat command answers, in words: canonical Markdown, which an adapter need only show.

Every sentence of an answer is written here, ready for translation, or in a file of its subject:
debates, what is stored of a person, reviews, statistics. Errors carry their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.answers.answers import (
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
from engine.answers.debates import (
    debates_lines,
    result_lines,
    started_lines,
    status_lines,
    stopped_line,
)
from engine.answers.privacy_notice import forgotten_lines, opted_line, privacy_lines
from engine.answers.review_list import review_lines, revised_lines
from engine.answers.statistics import agreement_lines, leaderboard_lines, left_out
from engine.topics import Topic
from engine.words.phrases import plural


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
            yield from started_lines(answer)
        case StoppedAnswer():
            yield stopped_line(answer)
        case StatusAnswer():
            yield from status_lines(answer)
        case ResultAnswer():
            yield from result_lines(answer)
        case DebatesAnswer():
            yield from debates_lines(answer)
        case ModelsAnswer():
            yield from _models(answer)
        case TopicsAnswer():
            yield from (f"- {_topic(topic)}" for topic in answer.topics)
        case FormatsAnswer():
            yield from _formats(answer)
        case SettingsAnswer():
            yield from _settings(answer)
        case FileAnswer():
            yield plural(EXPORTED, answer.debates, name=answer.name)
            yield from left_out(answer.rehearsals)
        case NoFileAnswer():
            yield _no_file(answer)
        case AgreementAnswer():
            yield from agreement_lines(answer.agreement, answer.rehearsals)
        case LeaderboardAnswer():
            yield from leaderboard_lines(answer.leaderboard, answer.rehearsals)
        case ReviewAnswer():
            yield from review_lines(answer, prefix, link)
        case RevisedAnswer():
            yield from revised_lines(answer)
        case HelpAnswer():
            yield from _help(answer, prefix)
        case PrivacyAnswer():
            yield from privacy_lines(answer.traces, prefix)
        case ForgottenAnswer():
            yield from forgotten_lines(answer, prefix)
        case OptedAnswer():
            yield opted_line(answer, prefix)


# --- texts -------------------------------------------------------------------------------

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
NOTHING_TO_EXPORT = (
    "No debate was revealed here yet, so there is nothing to export. Hold one, and export it once "
    "its vote has closed."
)
REHEARSALS_TO_EXPORT = (
    "Only rehearsal debates were revealed here. Their speakers or jurors are not language models, "
    "so exports leave them out. The operator can write them with: "
    "`rostrum export --out FOLDER --include-rehearsal --community {community}`"
)
TOO_LARGE = (
    "The export has {size:.1f} MiB, more than the {most:.1f} MiB that can be sent here. Whoever "
    "runs Rostrum writes it with: `rostrum export --out FOLDER --community {community}`"
)

HELP = (
    "Rostrum holds debates between AI models: a blind jury scores them and people vote. "
    "The models are named when the vote has closed.",
    "A debate is named by its code; without one, the debate of this channel or thread is meant.",
)


# --- answers -----------------------------------------------------------------------------


def _models(answer: ModelsAnswer) -> Iterator[str]:
    for title, models in ((DEBATERS, answer.models), (JURORS, answer.jurors)):
        yield title
        yield from (f"- `{model}`" for model in models or (NONE,))


def _topic(topic: Topic) -> str:
    return f"{topic.text} ({topic.conditions})" if topic.conditions else topic.text


def _formats(answer: FormatsAnswer) -> Iterator[str]:
    for line in answer.formats:
        said = plural(FORMAT, len(line.contenders), name=line.name)
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
        if answer.rehearsals:
            return REHEARSALS_TO_EXPORT.format(community=answer.community)
        return NOTHING_TO_EXPORT
    size, most = answer.bytes / 2**20, answer.bytes_max / 2**20
    return TOO_LARGE.format(size=size, most=most, community=answer.community)


def _help(answer: HelpAnswer, prefix: str) -> Iterator[str]:
    lines = [f"`{prefix} {line.written}` {line.about}" for line in answer.commands]
    if answer.command is not None:
        yield from lines
        return
    yield from HELP
    yield from (f"- {line}" for line in lines)
