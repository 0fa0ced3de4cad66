"""Rows of debates for tests of statistics."""

from __future__ import annotations

from engine.stats.row import JurorBallot, Row


def make_row(n: int = 1, people: str | None = "A", jury: str | None = "A", **fields: object) -> Row:
    """A debate between ana (A) and ben (B) whose voters and jurors are of one mind each."""
    plain: dict[str, object] = {
        "topic": f"t{n}",
        "title": f"Topic {n}",
        "language": "en",
        "format": "classic",
        "models": {"A": "near/ana", "B": "near/ben"},
        "families": {"A": "ana", "B": "ben"},
        "people": people,
        "jury": jury,
        "gold": {people: 5} if people else {},
        "p_a": {"A": 0.9, "B": 0.1, "tie": 0.5}.get(jury or ""),
        "closer": "B",
        "blind": True,
        "readings": tuple(read(f"near/j{k}", jury or "tie") for k in (1, 2, 3)),
    }
    return Row(**plain | fields)  # type: ignore[arg-type]


def read(juror: str, verdict: str | None, order: str = "AB", **fields: object) -> JurorBallot:
    plain = JurorBallot(juror, "kin", tuple(order), audit=False, verdict=verdict, usd=0.25)
    return plain._replace(**fields)  # type: ignore[arg-type]
