"""What sides look up before a debate, where an operator has set a search endpoint.

Each side writes as many queries as the others. What is found becomes sources for everyone, before
the first turn, so that no side knows more than another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest

import orjson

from engine.prompts import SOURCES
from engine.stage import Stage
from engine.stage.forms import form
from engine.store import Post
from engine.values.debate import Retrieval, Source, Value
from engine.values.language import N_
from engine.values.messages import Report
from engine.values.source_files import title_of
from engine.values.text import clean, headline, is_visible, marked
from engine.values.verdicts import RETRIEVED, Artifact
from engine.words.phrases import source_name
from engine.words.translation import say

QUERY_CHARS = 200
FOLDER = SOURCES


class _Query(Value, extra="ignore"):
    """What a side wants to look up; empty for nothing."""

    query: str = ""


class _SearchHit(Value, extra="ignore"):
    """One thing that was found."""

    title: str = ""
    text: str = ""
    url: str = ""


class _Lookup(Value):
    """One search of a side, with its results or the problem."""

    side: str
    query: str
    results: tuple[_SearchHit, ...] = ()
    problem: str = ""


async def research(stage: Stage, plan: Retrieval) -> None:
    """Let every side look things up, then put what was found before all of them."""
    sides = (side for side, model in stage.request.sides.items() if not model.person)
    searches = (_search(stage, side, plan) for side in sides)
    by_side = await stage.together(*searches)
    # In turns, so that no side's findings come first as a whole.
    lookups = [one for one in chain.from_iterable(zip_longest(*by_side)) if one is not None]
    found = list({_key(one): one for made in lookups for one in made.results}.values())
    given = len(stage.sources)
    numbered = {_key(one): at for at, one in enumerate(found, given + 1)}
    stage.know([_source(one, plan.characters) for one in found])
    told = [
        _tell(stage, one, [numbered[_key(result)] for result in one.results]) for one in lookups
    ]
    report = Report(title=say("Looked up"), text="\n\n".join(told), side="judge")
    posts = [Post(key=FOLDER, message=report)] if told else []
    await stage.keep(at_once=posts, artifacts=[_keep(stage, given, lookups, found)])


async def _search(stage: Stage, side: str, plan: Retrieval) -> list[_Lookup]:
    made: list[_Lookup] = []
    for number in range(1, plan.calls + 1):
        answer = await stage.consult(
            f"search/{side}/{number}",
            stage.request.model_of(side),
            system=f"{FOLDER}/searcher",
            template=f"{FOLDER}/search",
            again=f"{FOLDER}/again",
            shape=form(_Query, optional=True),
            role="debater",
            side=side,
            left=plan.calls - number + 1,
            earlier=[(one.query, [result.title for result in one.results]) for one in made],
            given=[source.title for source in stage.sources],
        )
        said = answer.value.query if answer.valid and answer.value else ""
        query = headline(clean(said), QUERY_CHARS)
        if not is_visible(query):
            break
        text, problem = await stage.look_up(f"retrieve/{side}/{number}", query)
        results = tuple(read_results(text, query))[: plan.results]
        made.append(_Lookup(side=side, query=query, results=results, problem=problem))
    return made


def read_results(text: str, query: str) -> Iterator[_SearchHit]:
    """Yield the results in an answer: a list of them, or the prose of a model that searches."""
    try:
        items = orjson.loads(text)
    except orjson.JSONDecodeError:
        items = None
    if not isinstance(items, list):
        items = [{"title": query, "text": text}]
    for item in items:
        if isinstance(item, dict):
            strings = {name: clean(said) for name, said in item.items() if isinstance(said, str)}
            result = _SearchHit.model_validate(strings)
            if is_visible(result.text):
                yield result


def _key(result: _SearchHit) -> str:
    return result.url or result.text


def _source(result: _SearchHit, most: int) -> Source:
    text = result.text if len(result.text) <= most else f"{result.text[: most - 1].rstrip()}…"
    return Source(
        title=title_of(result.title or result.url), text="\n".join(filter(None, (result.url, text)))
    )


def _tell(stage: Stage, made: _Lookup, numbers: Sequence[int]) -> str:
    """Return a line for readers: the query, and the sources that it found."""
    names = " · ".join(
        source_name(number, stage.sources[number - 1].title) for number in dict.fromkeys(numbers)
    )
    side = stage.called.get(made.side, marked(made.side))
    found = names or say(
        N_("the search gave no answer") if made.problem else N_("nothing that can be read")
    )
    return stage.veiled(
        say("**{side}** looked up “{query}”: {found}", side=side, query=made.query, found=found)
    )


def _keep(
    stage: Stage, given: int, lookups: Sequence[_Lookup], found: Sequence[_SearchHit]
) -> Artifact:
    """Return the record of what was looked up: each search, and each source with its address."""
    sources = [
        {"number": at, "title": source.title, "text": source.text, "url": result.url}
        | next({"side": one.side, "query": one.query} for one in lookups if result in one.results)
        for at, (source, result) in enumerate(
            zip(stage.sources[given:], found, strict=True), given + 1
        )
    ]
    searches = [
        one.model_dump(exclude={"results"}) | {"n_results": len(one.results)} for one in lookups
    ]
    return Artifact.of(RETRIEVED, RETRIEVED, {"searches": searches, "sources": sources})


def dry_results(step: str, plan: Retrieval) -> str:
    """Return as many results as a search may give, each as long as may be; for estimates."""
    filler = [
        {"title": f"Result {at}", "text": "a" * plan.characters, "url": f"{step}/{at}"}
        for at in range(plan.results)
    ]
    return orjson.dumps(filler).decode()
