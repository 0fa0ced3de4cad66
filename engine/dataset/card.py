"""The card of an export: front matter for dataset libraries, then text for people.

It contains nothing written by a person or a model: only names, numbers and language codes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from textwrap import dedent
from typing import Any

from engine.dataset.columns import SCHEMA_VERSION, Column, Table
from engine.dataset.folder import FileFormat
from engine.dataset.tables import TABLES, ExportFigures, choose_tables
from engine.tally import FEWEST, wilson
from engine.values.topics import SPLITS

# The licence of an export, by its SPDX id, and how the card names it to a dataset hub.


def front_matter(license: str | None) -> tuple[str, ...]:
    """Return the card's lines; a licence that hubs do not list is `other`, with its name."""
    if license is None:
        return ("license: other", "license_name: set-by-publisher")
    from engine.dataset.license import named  # a demo's publisher has set none

    return named(license)


def describe(license: str | None) -> str:
    """Return the first sentence of the card's section."""
    if license is None:
        return "No licence is set here: that is up to the publisher of the export."
    from engine.dataset.license import link_of  # a demo's publisher has set none

    return f"The publisher of this export has set its licence: `{license}`{link_of(license)}."


# Counts of an export, for its card.


CARD = "README.md"
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_LARGEST = "1M<n<10M"

_INTRODUCTION = """\
    # Rostrum debates

    Language models debated a topic in a chat channel. A panel of other models judged the debate
    blind, and the people in the channel voted before anything was revealed. Both judgments are
    here side by side, with every turn and every ballot, valid or not.

    Written by Rostrum {version}, schema version {schema}. `manifest.json` lists every file with its
    size and SHA-256; `croissant.json` describes files and columns in Croissant.
    """

_LOAD = """\
    ## First steps

    ```python
    from datasets import load_dataset

    FOLDER = "path/to/this/folder"  # or OWNER/NAME on a dataset hub
    {name} = load_dataset(FOLDER, "{name}")  # any table below, with all its splits
    ```
    """

_AGREE = """\
    How often people and jury agree; debates on one topic are alike, so the interval is over topics:

    ```python
    debates = load_dataset(FOLDER, "debates", split="all").to_pandas()
    both = debates.dropna(subset="agree").astype({"agree": float})
    topics = both.groupby("topic_id").agree.mean()
    print(f"{both.agree.mean():.1%} of {len(both)} debates decided by both")
    print(f"by topic {topics.mean():.1%} ± {1.96 * topics.sem():.1%}")
    ```
    """

_PAIRS = """\
    Pairs for a DPO trainer:

    ```python
    pairs = load_dataset(FOLDER, "preference", split="{split}")
    pairs = pairs.select_columns(["prompt", "chosen", "rejected"])
    # DPOTrainer(model=..., args=DPOConfig(...), train_dataset=pairs)
    ```
    """
_GOLD = """\
    ## How votes become gold

    A vote is **gold** when it was cast before the reveal by someone who had not started the debate,
    while no judge's scores were visible, its last choice is known, and no message was missing in
    the debate's thread (`gaps`). Votes that no person is known to be behind (`source` is `script`)
    are not gold, nor, where a community asks for a least age, are those of accounts or members that
    are not known to have it (`new`). `reason` says why a vote is not gold. Of two mirrored debates,
    the reveal of one names the models of both: later choices on the other are not gold
    (`mirror_revealed`). A rematch (`rematch_of`) has the models of a revealed debate. Its sides are
    drawn again and kept secret, so its votes are gold like any others; where the models `swapped`
    sides, everyone could know who is who, so none is (`known`). Where a person argued a side
    (`person`), their own vote is not gold (`speaker`), and in a rematch of it none is. Such a
    debate is in no table that compares models, and in no rating.

    The quorum counts gold votes, ties and “neither” included. The human
    winner is the side with the most gold votes; it is a tie when the first two are equal, or when
    the votes for a tie are at least as many as those for the first. Below the quorum, and in a
    debate that ended before its vote, there is no human winner. `share_a` is gold A over gold A
    and B, with its Wilson 95 % interval.

    A vote is `fast` when it came sooner than anyone can read the debate at 1,000 words a minute,
    starting when its thread was opened. That speed is our choice: about four times silent reading
    (238 words a minute: Brysbaert, Journal of Memory and Language 109, 2019). The flag changes no
    count. A vote without it may be hasty too, from someone who came later. Answers in the phase
    `after_reveal` are by people who could know the models, the votes and the jury's verdict. They
    show how far a reveal moves people, and are never gold.

    """

_LIMITS = """\
    ## Known limits

    - The human labels are the gold; the jury's verdicts are the copy. People are the better
      judges of debates, and jurors' agreement with them does not show that the jurors are
      unbiased: a judge can agree with most people and still favour one model.
    - Language models that judge share their errors, so a panel of several amounts to fewer
      independent votes (`effective_votes`, null until it has been measured). More jurors are
      not more certainty.
    - The order in which sides are shown moves a juror. Verdicts are balanced over orders, and
      each ballot says which order it read, but nothing removes the effect of who really spoke
      last (`spoke_last`).
    - An unreadable reply is an invalid ballot with its raw text, not a score.
    - The voters are the people in the channel, not a sample of any population. They could see
      one another's votes if `tally_visible` is true.
    - The split of a debate follows from its topic: no topic, reworded in case, spacing or
      punctuation, is in two splits. Topics that say the same in other words may be.
    - The backend `rehearsal` is not a language model: it recites prepared texts, offline. Debates
      here with a speaker, juror or judge of it: {rehearsed} of {debates}.
    """

_PRIVACY = """\
    ## Privacy

    Voters appear under pseudonyms from a secret key, for this export alone. An export with other
    filters or newer debates uses other pseudonyms; the same export repeated uses the same ones.
    Still, a debate and the votes on it can be recognised in two exports by their times, which are
    given to the minute. Mentions of people and channels, and links to messages, are removed from
    every text, but people and models may have written names in plain words.
    People who opted out of exports are counted in the tallies and have no row (`opted_out`).
    """

_LICENCE = """\
    ## Licence

    {license} The texts of models may be subject to the terms of their providers, and topics and
    votes belong to the community in which they were written.
    """


def write_card(
    rows: Mapping[str, Mapping[str, int]],
    figures: ExportFigures,
    version: str,
    file_format: FileFormat,
    license: str | None = None,
) -> str:
    """Return the card; `rows` are row counts by table and non-empty split, `license` an SPDX id."""
    tables = choose_tables(rows)
    filled = [table for table in tables if rows[table.name]]
    return assemble(
        _front_matter(filled, rows, figures, file_format, license),
        _first_steps(rows, figures),
        rows,
        {table.name: table.about for table in tables},
        figures,
        version,
        license,
        ("## Tables\n", *(describe_table(table) for table in tables)),
    )


def assemble(
    front: str,
    first: Iterable[str],
    rows: Mapping[str, Mapping[str, int]],
    about: Mapping[str, str],
    figures: ExportFigures,
    version: str,
    license: str | None,
    tables: Iterable[str] = (),
) -> str:
    """Return a card: its YAML block, what comes `first`, counts, `tables`, and what holds of all.

    `about` is what a row of each table is.
    """
    parts = (
        front,
        dedent(_INTRODUCTION).format(version=version, schema=SCHEMA_VERSION),
        *first,
        _counts(rows, about, figures),
        _agreement(figures),
        *tables,
        dedent(_GOLD),
        dedent(_LIMITS).format(rehearsed=figures.rehearsed, debates=figures.debates),
        dedent(_PRIVACY),
        dedent(_LICENCE).format(license=describe(license)),
    )
    return "\n".join(parts)


def _front_matter(
    filled: Iterable[Table[Any]],
    rows: Mapping[str, Mapping[str, int]],
    figures: ExportFigures,
    file_format: FileFormat,
    license: str | None,
) -> str:
    """Return the YAML block; a table without rows has no files and no config."""
    configs: list[str] = []
    if tables := list(filled):
        configs += ["configs:"]
        for table in tables:
            configs.append(f"- config_name: {table.name}")
            configs += ["  default: true"] if table is TABLES[0] else []
            configs.append("  data_files:")
            for split in rows[table.name]:
                configs.append(f"  - split: {split}")
                configs.append(f"    path: {file_format.path(table.name, split)}")
        configs += ["dataset_info:"]
        for table in tables:  # the types, which an all-null column would lack otherwise
            configs += [f"- config_name: {table.name}", "  features:"]
            configs += [line for column in table.columns for line in _feature(column, "  ")]
    return head(rows, figures, license, configs)


def head(
    rows: Mapping[str, Mapping[str, int]],
    figures: ExportFigures,
    license: str | None,
    configs: Iterable[str],
) -> str:
    """Return the YAML block of a card that configures its files so."""
    languages = sorted({code.split("-")[0].lower() for code in figures.languages})
    total = sum(number for by_split in rows.values() for number in by_split.values())
    size = next((name for bound, name in _SIZES if total < bound), _LARGEST)
    lines = [
        "---",
        "pretty_name: Rostrum debates",
        *front_matter(license),
        *_block("language", map(_quoted, languages)),
        *_block("task_categories", ("text-classification", "text-generation")),
        *_block("size_categories", (_quoted(size),)),
        *_block("tags", ("debate", "llm-as-a-judge", "human-feedback", "human-vs-jury")),
    ]
    return "\n".join([*lines, *configs, "---", ""])


def _block(key: str, values: Iterable[str]) -> list[str]:
    items = [f"- {value}" for value in values]
    return [f"{key}:", *items] if items else []


def _quoted(text: str) -> str:
    """Quote a YAML scalar: unquoted, the language code `no` would be a boolean."""
    return json.dumps(text)


def _feature(column: Column[Any], indent: str) -> Iterator[str]:
    yield f"{indent}- name: {column.name}"
    if isinstance(column.type, str):
        yield f"{indent}  dtype: {column.type}"
        return
    yield f"{indent}  list:"
    for part in column.type:
        yield from _feature(part, f"{indent}  ")


def _first_steps(rows: Mapping[str, Mapping[str, int]], figures: ExportFigures) -> Iterator[str]:
    """Yield code that runs on this export as it is, or why there is none."""
    if not (filled := [name for name, by_split in rows.items() if by_split]):
        return
    yield dedent(_LOAD).format(name=filled[0])
    if figures.compared and "debates" in rows:
        yield dedent(_AGREE)
    elif not figures.compared:
        yield "No debate here was decided by both people and jury, so nothing shows agreement.\n"
    if pairs := rows.get("preference"):
        yield dedent(_PAIRS).format(split=next(iter(pairs)))


def _counts(
    rows: Mapping[str, Mapping[str, int]], about: Mapping[str, str], figures: ExportFigures
) -> str:
    lines = ["## What is in this export", "", "| table | split | rows |", "| --- | --- | ---: |"]
    for table, by_split in rows.items():
        lines += [f"| `{table}` | {split} | {number} |" for split, number in by_split.items()]
        if not by_split:
            lines.append(f"| `{table}` | none | 0 |")
    lines += ["", *_without(rows, about, figures)]
    ended = ", ".join(f"{number} {status}" for status, number in sorted(figures.statuses.items()))
    lines += [
        "",
        f"- debates: {figures.debates}{f' ({ended})' if ended else ''}",
        f"- votes: {figures.votes}, {figures.gold} of them gold",
        f"- jurors' ballots: {figures.ballots}, {figures.invalid} of them invalid",
        "",
    ]
    return "\n".join(lines)


def _without(
    rows: Mapping[str, Mapping[str, int]], about: Mapping[str, str], figures: ExportFigures
) -> Iterator[str]:
    """Yield why tables lack splits: no debate is in one, or none in it has such a row."""
    if empty := [f"`{split}`" for split in SPLITS if not figures.splits[split]]:
        yield (
            f"No debate here is in {' or '.join(empty)}, and so no table is: a topic is in one "
            "split only, and 80, 10 and 10 % of all topics are in the three."
        )
        yield ""
    for table, by_split in rows.items():
        lacks = [f"`{one}`" for one in SPLITS if figures.splits[one] and one not in by_split]
        if lacks:
            row = re.split("[;:]", about[table])[0]
            yield f"- `{table}` has no {' or '.join(lacks)}: no debate there has {row}"


def _agreement(figures: ExportFigures) -> str:
    share = f"too few debates to say (fewer than {FEWEST} decided by both)"
    if figures.compared >= FEWEST:
        low, high = wilson(figures.agreed, figures.compared)
        counts = f"{figures.agreed} of {figures.compared}"
        interval = f"Wilson 95 % interval {low:.1%} to {high:.1%}"
        share = f"{figures.agreed / figures.compared:.1%} ({counts}; {interval})"
    lines = [
        "## Agreement of people and jury",
        "",
        f"- debates decided by people (quorum met, ties included): {figures.by_people}",
        f"- debates decided by the jury (ties included): {figures.by_panel}",
        f"- debates decided by both: {figures.compared}",
        f"- agreement: {share}",
        "",
    ]
    return "\n".join(lines)


def describe_table(table: Table[Any]) -> str:
    """Return a section about a table: what a row is, and every column."""
    lines = [
        f"### `{table.name}`",
        "",
        f"One row is {table.about}.",
        "",
        "| column | type | unit | made by | what it holds | null |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for column in table.columns:
        lines.append(_describe_column(column, column.name))
        if not isinstance(column.type, str):
            lines += [
                _describe_column(part, f"{column.name}[].{part.name}") for part in column.type
            ]
    return "\n".join([*lines, ""])


def _describe_column(column: Column[Any], name: str) -> str:
    kind = column.type if isinstance(column.type, str) else "list"
    cells = (f"`{name}`", kind, column.unit, column.maker, column.meaning, column.null or "never")
    return f"| {' | '.join(cells)} |"
