"""The votes that a reveal tells, those that do not decide too, read from its words."""

import re


def told_votes(text: str) -> dict[str, int]:
    """Return the votes in a reveal's text by option, as `weak` and so on; 0 where none is told."""
    line = next(line for line in text.splitlines() if line.startswith("People: "))
    people = line.removeprefix("People: ").split(" · Jury: ")[0]
    counts = {"A": 0, "B": 0, "tie": 0, "weak": 0}
    told = people.partition(" not independent ")[2] or people
    for option, n in re.findall(r"(A|B|tie|neither) (\d+)", told):
        counts[option.removeprefix("both ")] = int(n)
    if score := re.search(r"(\d+)–(\d+)", told):
        first, second = ("B", "A") if people.startswith("**🔴 B") else ("A", "B")
        counts |= {first: int(score[1]), second: int(score[2])}
    return counts
