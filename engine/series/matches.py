"""Who meets whom in a league, who won by whom, and the standing. Pure.

Matches are drawn round by round and stored, so that a result that comes late changes no match that
was drawn before it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal, NamedTuple, Protocol

from engine.series.contents import Planned, Results, expand
from engine.series.design import Informative
from engine.series.spec import Bye, Decided, League, Match, Pairing, Series, System, contenders_of
from engine.values.debate import Model
from engine.values.messages import Reveal
from engine.values.verdicts import TIE

MOST_MATCHES = 3  # of one pair in a knock-out, before the lot decides
By = Literal["people", "jury", ""]


class MatchResult(NamedTuple):
    """How a match ended: the winner is a model, "tie", or None without a result; and by whom."""

    winner: str | None
    by: By


MatchResults = Mapping[int, MatchResult]
"""Results by the match's place among those drawn, from 0."""


class _LeaguePlace(NamedTuple):
    """A model in the standing; `played` counts matches with a result."""

    model: str
    points: float
    played: int
    won: int
    tied: int


def decide(league: League, reveal: Reveal) -> MatchResult:
    """Return the result of a revealed match, and who decided it.

    In a knock-out the jury breaks a tie of the people, unless people alone decide.
    """
    decided = league.decided
    people = reveal.tally.winner if reveal.tally.quorum_met else None
    people = people if people == TIE or people in reveal.models else None
    jury = reveal.verdict.winner
    breaks = league.system is System.KNOCKOUT and decided is Decided.PEOPLE_THEN_JURY
    settled = people is not None and not (people == TIE and breaks and jury is not None)
    if decided is not Decided.JURY and people is not None and settled:
        return MatchResult(reveal.models.get(people, people), "people")
    if decided is not Decided.PEOPLE and jury is not None:
        return MatchResult(reveal.models.get(jury, jury), "jury")
    return MatchResult(None, "")


# --- what is drawn -----------------------------------------------------------------------


def draw(league: League, results: MatchResults) -> League:
    """Return the league with its next round drawn, once every match so far has a result.

    Without another round it comes back unchanged: then it is over.
    """
    match league.system:
        case System.ROUND_ROBIN:
            # Draw by the circle method: one stays, the others move by one place a round.
            models: list[Model | None] = list(league.models)
            models += [None] if len(models) % 2 else []
            length, number = len(models) - 1, _last_round(league)
            if number >= league.rounds * length:
                return league
            turned = number % length
            around = models[1:]
            around = around[turned:] + around[:turned]
            ring = [models[0], *around]
            facing = zip(ring[: len(ring) // 2], reversed(ring[len(ring) // 2 :]), strict=True)
            return _add(league, [(a, b) for a, b in facing if a is not None and b is not None])
        case System.SWISS:
            if _last_round(league) >= league.rounds:
                return league
            known = {model.ref: model for model in league.models}
            points = {place.model: place.points for place in standing(league, results)}
            met = {match.pair for match in league.drawn}
            pairs, bye = pair_up(list(known), points, met, [one.model.ref for one in league.byes])
            drawn = sorted(tuple(sorted(pair)) for pair in pairs)
            rested = () if bye is None else (known[bye],)
            return _add(league, [(known[one], known[other]) for one, other in drawn], rested)
        case System.KNOCKOUT:
            return _draw_knockout(league, results)


def _draw_knockout(league: League, results: MatchResults) -> League:
    number = _last_round(league)
    if number == 0:
        return _pair_off(league, list(league.models))
    undecided = [
        pair for pair in _pairs_of(league, number) if _through(league, results, pair) is None
    ]
    if undecided:
        again = [[match for match in league.drawn if match.pair == pair][-1] for pair in undecided]
        replays = tuple(Match(round=number, a=one.b, b=one.a) for one in again)
        return league.model_copy(update={"drawn": (*league.drawn, *replays)})
    left = [
        through
        for pair in _pairs_of(league, number)
        if (through := _through(league, results, pair))
    ]
    left += [bye.model for bye in league.byes if bye.round == number]
    return _pair_off(league, left) if len(left) > 1 else league


def _pair_off(league: League, models: Sequence[Model]) -> League:
    """Pair the rest of a knock-out; of an odd number one goes on, each at most once if possible."""
    order = list(models)
    Random(f"{league.seed}/{_last_round(league)}").shuffle(order)
    rested: tuple[Model, ...] = ()
    if len(order) % 2:
        had = {bye.model.ref for bye in league.byes}
        fresh = [model for model in order if model.ref not in had] or order
        rested = (fresh[-1],)
        order.remove(fresh[-1])
    return _add(league, list(zip(order[::2], order[1::2], strict=True)), rested)


def _add(
    league: League, pairs: Sequence[tuple[Model, Model]], rested: Sequence[Model] = ()
) -> League:
    """Add a round: who is on which side is drawn, as is the order of its matches."""
    number = _last_round(league) + 1
    chance = Random(f"{league.seed}/{number}/sides")
    matches = [
        Match(round=number, a=one, b=other)
        if chance.random() < 0.5
        else Match(round=number, a=other, b=one)
        for one, other in pairs
    ]
    chance.shuffle(matches)
    byes = tuple(Bye(round=number, model=model) for model in rested)
    return league.model_copy(
        update={"drawn": (*league.drawn, *matches), "byes": (*league.byes, *byes)}
    )


def _last_round(league: League) -> int:
    return max((match.round for match in league.drawn), default=0)


def _pairs_of(league: League, number: int) -> list[frozenset[str]]:
    return list(dict.fromkeys(match.pair for match in league.drawn if match.round == number))


def _through(league: League, results: MatchResults, pair: frozenset[str]) -> Model | None:
    """Return who goes on of a pair in a knock-out; None: they have to meet again."""
    known = {model.ref: model for model in league.models}
    number = 0
    for at, match in enumerate(league.drawn):
        if match.pair == pair:
            number += 1
            winner = results[at].winner if at in results else None
            if winner in pair:
                return known[str(winner)]
    if number < MOST_MATCHES:
        return None
    return known[Random(f"{league.seed}/{sorted(pair)}/lot").choice(sorted(pair))]


def drew_lots(league: League, results: MatchResults, pair: frozenset[str]) -> str:
    """Return who of a pair in a knock-out goes on by lot; empty if a match decided, or will."""
    matches = [at for at, match in enumerate(league.drawn) if match.pair == pair]
    won = any(at in results and results[at].winner in pair for at in matches)
    if won or len(matches) < MOST_MATCHES or not results.keys() >= set(matches):
        return ""
    through = _through(league, results, pair)
    return through.ref if through else ""


# --- the standing ------------------------------------------------------------------------


def standing(league: League, results: MatchResults) -> tuple[_LeaguePlace, ...]:
    """Return every model's place: a win or a bye is a point, a tie half a point."""
    points: defaultdict[str, float] = defaultdict(float)
    played: Counter[str] = Counter()
    won: Counter[str] = Counter()
    tied: Counter[str] = Counter()
    for at, result in results.items():
        pair = league.drawn[at].pair
        if result.winner is None:
            continue
        played.update(pair)
        for model in pair if result.winner == TIE else ():
            tied[model] += 1
            points[model] += 0.5
        if result.winner in pair:
            won[str(result.winner)] += 1
            points[str(result.winner)] += 1
    if league.system is System.SWISS:
        for bye in league.byes:
            points[bye.model.ref] += 1
    places = [
        _LeaguePlace(ref, points[ref], played[ref], won[ref], tied[ref])
        for ref in (model.ref for model in league.models)
    ]
    return tuple(sorted(places, key=lambda one: (-one.points, -one.won, one.model)))


def champions(league: League, results: MatchResults) -> tuple[str, ...]:
    """Return who won a league that is over: several if they are level."""
    if league.system is System.KNOCKOUT:
        last = _pairs_of(league, _last_round(league))
        through = [_through(league, results, pair) for pair in last]
        return tuple(model.ref for model in through if model is not None)
    places = standing(league, results)
    best = max((place.points for place in places), default=0.0)
    return tuple(place.model for place in places if place.points == best) if best else ()


def met(league: League, revealed: Collection[int]) -> frozenset[str]:
    """Return the models that may be named: those of matches that are revealed."""
    return frozenset(ref for at in revealed for ref in league.drawn[at].pair)


# --- its debates -------------------------------------------------------------------------


class _LeagueMatches:
    """Yields the matches of a league that were drawn, in order."""

    def __init__(self, series: Series, league: League) -> None:
        self.series = series
        self.league = league

    def next(self, begun: Collection[str], results: object) -> Iterator[Planned]:
        """Yield what has not begun."""
        planned = (_planned(self.series, at, match) for at, match in enumerate(self.league.drawn))
        return (one for one in planned if one.key not in begun)

    def total(self) -> int:
        """Return how many matches it has, at least."""
        return max(self.league.total, len(self.league.drawn))


def place_of(key: str) -> int:
    """Return which of the matches drawn a debate is, from 0."""
    return int(key.rpartition("-")[2]) - 1


def _planned(series: Series, at: int, match: Match) -> Planned:
    options, key = series.formats[0], f"match-{at + 1}"
    return Planned(
        key=key,
        seed=Random(f"{series.name}/{key}").getrandbits(48),
        ordinal=at + 1,
        topic=series.topics[at % len(series.topics)],
        language=series.languages[0],
        options=options,
        contenders=contenders_of(options),
        seated=(match.a, match.b),
        repeat=1,
    )


# Which debates of a series are held next. Pure: what was held so far decides.


class Chooser(Protocol):
    """Says which debates may begin, the most urgent first.

    What it yields begins, or is kept by who asked: it need not yield it again.
    """

    def next(self, begun: Collection[str], results: Results) -> Iterator[Planned]:
        """Yield debates that are not among the keys that have begun."""

    def total(self) -> int:
        """Return how many debates will be held, at most."""


def choose(series: Series) -> Chooser:
    """Return what chooses the debates of a series."""
    if series.league is not None:
        return _LeagueMatches(series, series.league)
    match series.pairing:
        case Pairing.ALL:
            return _AllDebates(series)
        case Pairing.SWISS:
            return _Swiss(series)
        case Pairing.INFORMATIVE:
            return Informative(series)


class _AllDebates:
    """Every debate of the series, each once and in its order."""

    def __init__(self, series: Series) -> None:
        self.series = series
        self._rest = expand(series)

    def next(self, begun: Collection[str], results: Results) -> Iterator[Planned]:
        """Yield what has not begun."""
        return (planned for planned in self._rest if planned.key not in begun)

    def total(self) -> int:
        """Return the size of the series."""
        return self.series.size


@dataclass(slots=True)
class _Swiss:
    """Rounds in which models meet others of about the same standing that they have not met.

    A round takes one motion, in every format and on the sides that the series asks for. A win is a
    point, a tie half a point. With an odd number of models the last one that had no bye gets it, as
    a point. Following results alone, the same rounds come out whenever they are worked out.
    """

    series: Series
    _motions: dict[int, list[Planned]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        motions: dict[tuple[int, str, str], list[Planned]] = defaultdict(list)
        for planned in expand(self.series):
            motions[planned.repeat, planned.topic.text, planned.language].append(planned)
        self._motions = dict(enumerate(motions.values()))

    def next(self, begun: Collection[str], results: Results) -> Iterator[Planned]:
        """Yield the rest of the first round that has not ended."""
        points: defaultdict[str, float] = defaultdict(float)
        met: set[frozenset[str]] = set()
        rested: set[str] = set()
        for number in range(self._rounds):
            pairs, bye = pair_up([model.ref for model in self.series.models], points, met, rested)
            debates = [
                one for one in self._motions[number] if frozenset((one.a.ref, one.b.ref)) in pairs
            ]
            yield from [one for one in debates if one.key not in begun]
            if any(one.key not in results for one in debates):
                return
            for one in debates:
                sides, winner = one.models, results[one.key]
                if winner == TIE:
                    for model in sides.values():
                        points[model.ref] += 1 / 2
                elif winner is not None and winner in sides:
                    points[sides[winner].ref] += 1
            met |= pairs
            if bye:
                rested.add(bye)
                points[bye] += 1

    def total(self) -> int:
        """Return how many debates all rounds have."""
        held = [len(self._motions[number]) for number in range(self._rounds)]
        return sum(held) * (len(self.series.models) // 2) // len(self.series.pairs)

    @property
    def _rounds(self) -> int:
        return min(self.series.rounds or 0, len(self._motions))


def pair_up(
    models: Sequence[str],
    points: Mapping[str, float],
    met: Collection[frozenset[str]],
    rested: Collection[str] = (),
) -> tuple[set[frozenset[str]], str | None]:
    """Pair models of about equal points that have not met; return the pairs and who has a bye.

    When everyone has met everyone, models meet again.
    """
    ranked = sorted(models, key=lambda model: (-points.get(model, 0), model))
    bye = None
    if len(ranked) % 2:
        bye = next((model for model in reversed(ranked) if model not in rested), ranked[-1])
        ranked.remove(bye)
    return _match(ranked, met) or _match(ranked, ()) or set(), bye


def _match(ranked: Sequence[str], met: Collection[frozenset[str]]) -> set[frozenset[str]] | None:
    """Match from the top, going back where the rest cannot be matched; None if nothing fits."""
    if not ranked:
        return set()
    first, rest = ranked[0], ranked[1:]
    for other in rest:
        pair = frozenset((first, other))
        if pair in met:
            continue
        found = _match([model for model in rest if model != other], met)
        if found is not None:
            return {pair, *found}
    return None
