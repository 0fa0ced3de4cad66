"""`roundtable`: everyone drafts an answer, reads the others, and revises.

It answers a question; no one duels: people and jurors are asked which final answer is best.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import Field

from engine.blinding.identity import redact
from engine.formats.format import Format, Names, Roles, Sized
from engine.formats.roundtable.marks import NAME, converge, mark_answers
from engine.prompts import Prompts
from engine.stage import Stage
from engine.stage.shapes import TurnLimits
from engine.values.debate import Request, Turn, TurnOrder, Value
from engine.values.errors import UsageError
from engine.values.language import N_
from engine.values.limits import RoundtableLimits
from engine.values.overlap import least_overlap
from engine.values.text import clean, headline, split_draft
from engine.words.translation import say

FIRST, FINAL = "draft", "final answer"
NAME_CHARS, TITLE_CHARS = 32, 24  # of an agent's name; of a description that is a name
_MARKUP = re.compile(r"[*_`~|<>\[\]@#\\]")


class _RoundtableOptions(Value):
    """How many agents sit, as whom, and who judges; without judges the most central draft wins.

    `personas` are names of the data file, or descriptions of one's own such as `Nurse: twenty years
    on wards`, in the agents' order; one that holds a comma stands in quotes. `one_model` gives all
    agents the same model.
    """

    agents: int = Field(3, ge=2, le=9)
    personas: Names = ()
    judges: int = Field(0, ge=0, le=5)
    one_model: bool = False


class _Personas(Value):
    """The data file of personas: a description by name, in the order in which they are dealt.

    `names` say by language what people call them; a language without them uses English.
    """

    personas: dict[str, str]
    names: Mapping[str, Mapping[str, str]] = {}

    def deal(self, request: Request) -> dict[str, _Persona]:
        """Return each agent's persona: the one asked for, else those of the file in turn."""
        language = request.language.split("-")[0].lower()
        titles = {**self.names.get("en", {}), **self.names.get(language, {})}
        asked = _RoundtableOptions.model_validate(request.options).personas
        rest = [name for name in self.personas if name not in asked] * len(request.sides)
        dealt = (self._find(name, titles) for name in (*asked, *rest))
        return dict(zip(request.sides, dealt, strict=False))

    def _find(self, name: str, titles: Mapping[str, str]) -> _Persona:
        if name in self.personas:
            return _Persona(titles.get(name, name), self.personas[name])
        title, colon, text = name.partition(":")
        if colon and title.strip() and text.strip():
            return _Persona(title.strip(), text.strip())
        return _Persona(name if len(name) <= TITLE_CHARS else "", name)


class _Persona(NamedTuple):
    """Who an agent is to people, empty where the text is no name, and its way of looking."""

    title: str
    text: str


class Roundtable(Format):
    """Drafts at the same time, then as many rounds of revision, stopped early by agreement."""

    name = NAME
    about = N_("several models answer one question, read each other and revise")
    version = 1
    ends_early = True
    question = True
    rubric = "answers"
    contenders = ("1", "2", "3")
    options = _RoundtableOptions
    turn_order = TurnOrder.SIMULTANEOUS
    default_rounds = 2
    takes_rounds = True
    limits = RoundtableLimits
    short = Sized({"words": 120}, rounds=1)
    long = Sized({"words": 600}, rounds=3)

    def roles(self, options: Mapping[str, object]) -> Roles:
        """Return the agents, numbered from 1, and how many judges there are."""
        given = _RoundtableOptions.model_validate(options)
        if len(given.personas) > given.agents:
            raise UsageError(
                "{n} personas are named for {agents} agents; name at most one each.",
                n=len(given.personas),
                agents=given.agents,
            )
        agents = tuple(str(number) for number in range(1, given.agents + 1))
        return Roles(agents, judges=given.judges, one_model=given.one_model, fixed=True)

    def rounds(self, request: Request) -> tuple[str, ...]:
        """Return the draft and the revisions, numbered from 1."""
        return (FIRST, *(f"revision-{number}" for number in range(1, request.rounds + 1)))

    def turns(self, request: Request) -> int:
        """Return the number of drafts, unless agreement ends it early."""
        return len(request.sides) * len(self.rounds(request))

    def waves(self, request: Request) -> int:
        """Return the rounds; judges are asked beside the panel."""
        return len(self.rounds(request))

    def call(self, request: Request, prompts: Prompts, drawn: Mapping[str, str]) -> dict[str, str]:
        """Return each agent's name: its persona's, or the one drawn for it."""
        dealt = prompts.data(f"{NAME}/personas", _Personas).deal(request)
        models = frozenset(n for model in request.speakers for n in (model.name, model.family))
        called: dict[str, str] = {}
        for agent, persona in dealt.items():
            plain = _MARKUP.sub("", redact(clean(persona.title), models))
            name = headline(plain, NAME_CHARS) or drawn[agent]
            # Numbered from 2 on if another agent has it, in whatever case.
            taken = {other.casefold() for other in called.values()}
            numbered = (name, *(f"{name} {number}" for number in range(2, len(taken) + 2)))
            called[agent] = next(one for one in numbered if one.casefold() not in taken)
        return called

    def judged(self, turns: Sequence[Turn]) -> tuple[Turn, ...]:
        """Return the agents' final answers, without what they say of their changes."""
        last = {turn.side: turn for turn in turns}
        return tuple(
            turn.model_copy(
                update={
                    "step": f"final/{agent}",
                    "round": FINAL,
                    "text": final_of(turn.round, turn.text),
                }
            )
            for agent, turn in sorted(last.items())
        )

    async def run(self, stage: Stage) -> None:
        """Hold the debate."""
        limits = RoundtableLimits.model_validate(stage.limits)
        dealt = stage.prompts.data(f"{NAME}/personas", _Personas).deal(stage.request)
        personas = {agent: persona.text for agent, persona in dealt.items()}
        drafts: dict[str, str] = {}
        rounds = self.rounds(stage.request)
        for round_name in rounds:
            if drafts and least_overlap(drafts) >= limits.overlap:
                saved = self.turns(stage.request) - len(stage.turns)
                agreed = say(
                    "Every two drafts share at least {share}% of their words, so no one revises "
                    "further: {n} calls saved.",
                    share=round(100 * limits.overlap),
                    n=saved,
                )
                await stage.tell("roundtable/agreed", agreed)
                break
            others = {agent: _others(stage, drafts, agent) for agent in personas}
            texts = await stage.all_at_once(
                *(
                    stage.speak(
                        agent,
                        round_name,
                        template=f"{NAME}/{round_name.split('-')[0]}",
                        limits=TurnLimits(words=limits.words),
                        # One text, which rehearsal models answer.
                        opposing="\n\n".join(f"{one.name}:\n{one.draft}" for one in others[agent]),
                        others=others[agent],
                        last=round_name == rounds[-1],
                        persona=persona,
                    )
                    for agent, persona in personas.items()
                )
            )
            drafts = {
                agent: final_of(round_name, text)
                for agent, text in zip(personas, texts, strict=True)
            }
        stage.adjourn()
        # By the judges; without judges, the answer most like the others is best.
        if not stage.request.judges:
            await converge(stage, personas, drafts)
        else:
            steps = {turn.side: turn.step for turn in stage.turns}
            await mark_answers(stage, personas, drafts, steps)


def final_of(round_name: str, text: str) -> str:
    """Return an answer without its author's remarks on what changed."""
    return text if round_name == FIRST else split_draft(text)[0]


class _Other(NamedTuple):
    """Another agent's latest draft, and what people call that agent."""

    name: str
    draft: str


def _others(stage: Stage, drafts: Mapping[str, str], agent: str) -> list[_Other]:
    return [
        _Other(stage.called.get(name, f"Agent {name}"), text)
        for name, text in drafts.items()
        if name != agent
    ]
