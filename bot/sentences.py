"""Every message that the command line itself shows, ready for translation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for one command each, of many
    from adapters.models.discovery import LocalServer
    from engine.run.service import Started

NO_WEB = (
    "No page is served: set ROSTRUM_WEB__URL and ROSTRUM_WEB__PORT, then rostrum serve, or rostrum "
    "run beside a chat."
)
LEFT_OUT = (
    "; {n} rehearsal debate left out (--include-rehearsal adds it)",
    "; {n} rehearsal debates left out (--include-rehearsal adds them)",
)
REHEARSAL = (
    "The speakers and jurors here are the built-in rehearsal model. It is not a language model: "
    "it recites prepared arguments, so that you can see everything else work offline."
)
BY_PAGE = "After each round, any key shows the next one (--pace 0 shows them without waiting)."
VOTES_GIVEN = "These votes are cast when it opens: {votes} (choose with --votes)."
SCRIPTED = (
    "Votes and answers given as options are marked as scripted and count in no figure of people. "
    "If each is a person's, say so with --show-of-hands."
)
ONE_KEYBOARD = (
    "More than one vote came from this keyboard, so they are marked as scripted and count in no "
    "figure of people. If each is another person's, say so with --show-of-hands."
)
STANCES_GIVEN = "Where people stand before and after: {stances} (choose with --stances).\n"
NO_VOTERS = "No one can vote here (no terminal and no --votes), so the vote closes at once."
NO_STANCES = (
    "No one says here where they stand (no --stances, and no keys that vote), so the debate begins "
    "at once."
)
NO_WRITER = (
    "--a me and --b me read your turns from the keyboard or a pipe, and there is none here. Name a "
    "model."
)
STOPPING = (
    "Stopping: calls in flight are finished and kept (Ctrl-C again stops at once).\n"
    "Continue with:  {command} {code}"
)
MIRROR = "Its mirror {code}, with sides swapped, runs alongside and is shown after it.\n"
EXPORTING = {
    "LINES": "Exporting",
    "MIRRORS": "Pairing mirrored debates",
    "PARQUET": "Writing Parquet",
}
EXPORTED = "Exported to {out}: {counts}."
LEFT = """\
{exported}
{out}/README.md describes it: every juror's ballot is in data/verdicts, every vote in data/votes.
{place} has the debate's database and its files. Nothing else was left.

Real models debate once you have set a backend. rostrum init asks for one, tries it and writes .env:
"""
BY_HAND = """\
  rostrum init
Or set it yourself, with your own key:
  export ROSTRUM_BACKENDS__ONLINE__PRESET=openrouter
  export ROSTRUM_BACKENDS__ONLINE__API_KEY=…
  export ROSTRUM_MODELS="online/deepseek/deepseek-v3.2,
    online/mistralai/mistral-large-2512"
  export ROSTRUM_JURORS="online/openai/gpt-5-mini,
    online/google/gemini-3-flash-preview,
    online/qwen/qwen3-max"
  rostrum check
  rostrum debate "{topic}"\
"""
SERVER = """
{name} answers at {base_url}. To use it:
  export ROSTRUM_BACKENDS__LOCAL__PRESET={preset}
  export ROSTRUM_JURORS="{jurors}"
  rostrum debate "{topic}" \\
    --a {a} --b {b}\
"""
TOPIC = "Remote work beats the office"


def demo_intro(
    given: Mapping[str, str], votes: str | None, stances: str | None, *, by_page: bool = False
) -> str:
    """Return the demo's introduction: it shows a rehearsal, not a language model.

    `given` are the options of the command that a chat would take. `by_page`: a key shows the next
    round.
    """
    said = {name: text.replace('"', "'") for name, text in given.items()}
    options = " ".join(
        f'{name}:"{text}"' if " " in text or name == "topic" else f"{name}:{text}"
        for name, text in said.items()
    )
    command = f"/debate start {options}"
    voting = (
        "When the vote opens, each key you press is one person's vote."
        if votes is None
        else VOTES_GIVEN.format(votes=votes)
    )
    standing = STANCES_GIVEN.format(stances=stances) if stances else ""
    paging = f"{BY_PAGE}\n" if by_page else ""
    return f"> {command}\n\n{REHEARSAL}\n{paging}{voting}\n{standing}"


def remarks(started: Started) -> str:
    """Return the notes to show before a debate; empty when there are none."""
    mirror = MIRROR.format(code=started.mirror.code) if started.mirror else ""
    return mirror + "".join(f"Note: {warning}\n" for warning in started.warnings)


def demo_outro(
    counts: str, out: Path, place: Path, activate: str, servers: Sequence[LocalServer]
) -> str:
    """Return the demo's last lines: what it left where, and how to use real models.

    `place` is the folder of its database; `activate` is the script that makes `rostrum` known to
    the shell, if it takes one.
    """
    exported = EXPORTED.format(out=out, counts=counts)
    left = LEFT.format(out=out, place=place, exported=exported)
    parts = [left + (f"  . {activate}\n" if activate else "") + BY_HAND.format(topic=TOPIC)]
    for server in servers:
        models = [f"local/{model}" for model in server.models]
        parts.append(
            SERVER.format(
                name=server.name,
                base_url=server.base_url,
                preset=server.preset,
                jurors=",\n    ".join(models[:3]),
                topic=TOPIC,
                a=models[0],
                b=models[-1],
            )
        )
    return "\n".join(parts)


JUDGE_ALL = (
    "Ask them about {n} of the debates? Each may cost what ROSTRUM_BUDGET__DEBATE_USD allows."
)
