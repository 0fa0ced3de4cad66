"""The Audience port in memory: it remembers every draft, in order."""

from __future__ import annotations

from engine.values.ports import Draft


class Onlooker:
    """An audience that remembers what it saw."""

    def __init__(self) -> None:
        self.seen: list[Draft] = []

    def follow(self, draft: Draft) -> None:
        """Remember a draft."""
        self.seen.append(draft)

    def by_turn(self) -> dict[tuple[str, str], list[Draft]]:
        """Return what was seen of each turn, by seat and round."""
        turns: dict[tuple[str, str], list[Draft]] = {}
        for draft in self.seen:
            turns.setdefault((draft.seat, draft.round), []).append(draft)
        return turns
