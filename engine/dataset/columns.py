"""The columns of every table, each declared once: for the rows, the card and other formats.

Bump `SCHEMA_VERSION` with any change that a reader of an export could notice.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

SCHEMA_VERSION = 1

Scalar: TypeAlias = Literal["string", "bool", "int64", "float64", "timestamp[s, tz=UTC]"]
TEXT: Scalar = "string"
FLAG: Scalar = "bool"
WHOLE: Scalar = "int64"
REAL: Scalar = "float64"
# ISO 8601 in JSON. Declared as text it would lose its zone: readers of JSON take it for a moment
# without asking, and then write it out in their own way.
MOMENT: Scalar = "timestamp[s, tz=UTC]"


class Column(NamedTuple):
    """A column: a scalar type, or the fields of the records that it is a list of.

    `about` says what it holds, in which unit, and when it is null.
    """

    name: str
    type: Scalar | tuple[Column, ...]
    about: str


# Maps are written as lists of records, because a table's columns must not depend on how many
# sides a format has.
SIDE = Column("side", TEXT, "the contender")
DEBATE = Column("debate_id", TEXT, "the debate, by ULID; joins the tables")
SPLIT = Column("split", TEXT, "`train`, `validation` or `test`, by topic")
_PLATFORM = Column("platform", TEXT, "where it was held: `terminal`, `discord`, `slack`")
_TOKENS_IN = Column("tokens_in", WHOLE, "tokens read; null where the backend does not say")
_TOKENS_OUT = Column("tokens_out", WHOLE, "tokens written; null where the backend does not say")
_LATENCY = Column("latency_s", REAL, "seconds of the call that succeeded; null without one")
_COST = Column("cost_usd", REAL, "USD of that call; null when the price is unknown")
_PROMPT = Column("prompt_hash", TEXT, "SHA-256 of the prompt's messages; null without a call")

_ASKED = (
    Column("status", TEXT, "`closed`; or `partial`, `cancelled`, `failed`: ended before a vote"),
    _PLATFORM,
    Column("topic", TEXT, "what was debated; mentions removed"),
    Column("topic_id", TEXT, "shared by rewordings of a topic in case, spacing or punctuation"),
    Column("conditions", TEXT, "what both sides were told to assume; may be empty"),
    Column("language", TEXT, "BCP-47 code"),
    Column("format", TEXT, "the debate's format"),
    Column("rounds", WHOLE, "the number of rebuttal rounds that was asked for"),
    Column("turn_order", TEXT, "`sequential`, or `simultaneous`: nobody replies in a round"),
    Column("blind", FLAG, "whether the models' names were kept from jurors"),
    Column("scores", TEXT, "`after_vote`, or `live`: a judge could be read before the vote"),
    Column("ballot", TEXT, "`open`, `secret` or `private`"),
    Column("vote_minutes", REAL, "how long the vote was to be open, in minutes"),
    Column("quorum", WHOLE, "gold votes that a human winner needs"),
    Column(
        "sides",
        (
            SIDE,
            Column("backend", TEXT, "the endpoint's name in the installation"),
            Column("model", TEXT, "the model's name there"),
            Column("family", TEXT, "the model's family, by which jurors are recused"),
            Column("drawn", FLAG, "whether the model was drawn at random"),
        ),
        "who argued each side",
    ),
)
_SPOKEN = (
    Column("n_turns", WHOLE, "turns held"),
    Column("spoke_first", TEXT, "the side whose turn was posted first; null without turns"),
    Column("spoke_last", TEXT, "the side whose turn was posted last; null without turns"),
)
_JUDGED = (
    Column("jury_winner", TEXT, "a side or `tie`; null without a verdict"),
    Column("jury_problem", TEXT, "why there is no verdict; null with one, or without a panel"),
    Column("p_a", REAL, "the panel's probability that A won; null without one, or with no A"),
    Column(
        "p",
        (SIDE, Column("p", REAL, "the panel's probability that it won")),
        "the probability of every side; null without a verdict",
    ),
    Column("z", REAL, "the panel's signal, balanced over orders; null without a verdict"),
    Column("n_valid", WHOLE, "valid ballots that could decide; null without a panel"),
    Column("n_invalid", WHOLE, "ballots that could not be read; null without a panel"),
    Column("n_audit", WHOLE, "ballots of the audit, which decide nothing; null without a panel"),
    Column("effective_votes", REAL, "independent votes the panel amounts to; null if unmeasured"),
    Column("panel_mode", TEXT, "`adaptive` or `strict`"),
    Column("rubric", TEXT, "the criteria and weights that jurors scored by"),
    Column("recusal_failed", FLAG, "whether jurors of a debater's family had to sit"),
)
_COUNTED = tuple(
    Column(f"{prefix}_{option}", WHOLE, f"{kind} votes for {meaning}; null without {needs}")
    for prefix, kind in (("n", "standing"), ("gold", "gold"))
    for option, meaning, needs in (
        ("a", "A", "a vote, or with no A"),
        ("b", "B", "a vote, or with no B"),
        ("tie", "a tie", "a vote"),
        ("weak", "“both weak”", "a vote"),
    )
)
_VOTED = (
    Column("human_winner", TEXT, "a side or `tie`, by gold votes; null below the quorum"),
    *_COUNTED,
    Column(
        "tally",
        (
            Column("option", TEXT, "a side, `tie` or `weak`"),
            Column("n", WHOLE, "standing votes"),
            Column("gold", WHOLE, "gold votes"),
        ),
        "the count of every option; null without a vote",
    ),
    Column(
        "n_ambiguous", WHOLE, "votes in no count, as none of several stands; null without a vote"
    ),
    Column("share_a", REAL, "gold A over gold A and B, 0 to 1; null when nobody chose either"),
    Column("share_low", REAL, "lower Wilson 95 % bound of `share_a`; null with it"),
    Column("share_high", REAL, "upper Wilson 95 % bound of `share_a`; null with it"),
    Column("quorum_met", FLAG, "whether the gold votes reached the quorum; null without a vote"),
    Column("opted_out", WHOLE, "voters who are counted but have no row in `votes`"),
    Column("agree", FLAG, "whether people and panel name the same; null unless both decided"),
)
_ENDED = (
    Column("opened_at", MOMENT, "when the thread was opened; null if it never was"),
    Column("vote_opened_at", MOMENT, "when the vote was opened; null without one"),
    Column(
        "revealed_at", MOMENT, "when the vote was closed and the models named; null without one"
    ),
    Column("closed_early", FLAG, "whether a manager closed the vote before its time"),
    Column("extended", FLAG, "whether the vote was extended, being below its quorum"),
    Column("n_calls", WHOLE, "tries of model calls, jurors' and failed ones included"),
    Column("cost_usd", REAL, "USD of all calls; null when the price of one is unknown"),
    Column("schema_version", WHOLE, "the version of these columns"),
    Column("format_version", WHOLE, "the version of the format's script"),
    Column("templates", TEXT, "SHA-256 of the prompt templates"),
    Column("prompt_hash", TEXT, "SHA-256 over the prompts of every step; null without a call"),
)
DEBATES = (DEBATE, SPLIT, *_ASKED, *_SPOKEN, *_JUDGED, *_VOTED, *_ENDED)

TURNS = (
    DEBATE,
    SPLIT,
    Column("number", WHOLE, "place in the debate, from 1"),
    Column("round", TEXT, "the round's name"),
    Column("place", WHOLE, "place within the round, from 1, in the order of posting"),
    SIDE,
    Column("seat", TEXT, "who spoke; on a team several seats share a side"),
    Column("text", TEXT, "what was said, in Markdown; mentions removed"),
    Column("words", WHOLE, "words by Unicode segmentation (UAX 29)"),
    Column("word_limit", WHOLE, "words allowed; null without a limit on the whole turn"),
    Column("shortened", FLAG, "whether a first text, over a limit, was sent back once"),
    Column(
        "violations",
        (
            Column("kind", TEXT, "the rule that was broken"),
            Column("measured", REAL, "what was measured"),
            Column("limit", REAL, "what was allowed"),
        ),
        "rules that the text still breaks; often empty",
    ),
    Column("model_asked", TEXT, "`backend/model` as it was asked for"),
    Column("model_answered", TEXT, "the model that really answered, as its backend names it"),
    Column("family", TEXT, "the family of the model asked"),
    Column(
        "stop_reason", TEXT, "why the model stopped, in the backend's word; null without a call"
    ),
    _TOKENS_IN,
    _TOKENS_OUT,
    _LATENCY,
    _COST,
    _PROMPT,
    Column("thumbs_up", WHOLE, "people who liked it before the reveal; null without any thumbs"),
    Column("thumbs_down", WHOLE, "people who disliked it before the reveal; null likewise"),
    Column("thumbs_up_after", WHOLE, "people who liked it after the reveal; null likewise"),
    Column("thumbs_down_after", WHOLE, "people who disliked it after the reveal; null likewise"),
)

VERDICTS = (
    DEBATE,
    SPLIT,
    Column("juror", TEXT, "`backend/model` as it was asked for"),
    Column("family", TEXT, "the juror's family"),
    Column("order", TEXT, "the sides as they were shown, e.g. `BA`"),
    Column("audit", FLAG, "whether it only measures the effect of order and decides nothing"),
    Column("valid", FLAG, "whether the reply could be read; if not it says nothing of the debate"),
    Column("problem", TEXT, "what is wrong with the reply; null when nothing is"),
    Column("repaired", FLAG, "whether its JSON had to be repaired"),
    Column("contradictory", FLAG, "whether its verdict contradicts its scores"),
    Column(
        "names",
        (SIDE, Column("name", TEXT, "the neutral name that the juror read")),
        "what the sides were called",
    ),
    Column(
        "scores",
        (
            SIDE,
            Column("criterion", TEXT, "the rubric's criterion"),
            Column("score", WHOLE, "1 to 10"),
        ),
        "every score; null on an invalid ballot",
    ),
    Column("verdict", TEXT, "a side or `tie`; null on an invalid ballot"),
    Column("confidence", REAL, "the juror's own, 0 to 1; null on an invalid ballot"),
    Column("reasons", TEXT, "the juror's reasons, in neutral names; null on an invalid ballot"),
    Column("raw", TEXT, "the reply as it came, mentions removed; null when none came"),
    Column("pos", REAL, "the juror's lean to the side shown first, in points; null if unused"),
    Column("sd", REAL, "the spread of the juror's margins, in points; null if unused"),
    Column("weight", REAL, "the juror's weight, 1 on average; null if unused"),
    Column("slope", REAL, "what turns the panel's signal into a probability"),
    Column(
        "x",
        (SIDE, Column("x", REAL, "its signal")),
        "what the ballot says for each side, freed of lean and spread; null if unused",
    ),
    Column("rubric", TEXT, "the criteria and weights that jurors scored by"),
    Column("model_answered", TEXT, "the model that really answered; null when none did"),
    _TOKENS_IN,
    _TOKENS_OUT,
    _LATENCY,
    _COST,
    _PROMPT,
)

VOTES = (
    DEBATE,
    SPLIT,
    Column("voter", TEXT, "a pseudonym that is the same throughout this export, and only here"),
    Column(
        "phase",
        TEXT,
        "`before_reveal`: on the debate, while the models were unknown; `stance_before` and "
        "`stance_after`: on the topic, before the first turn and with the vote",
    ),
    Column(
        "option",
        TEXT,
        "a side, `tie` or `weak`; on the topic `for`, `against` or `unsure`; several, as in "
        "`A+tie`, when ambiguous",
    ),
    Column("ambiguous", FLAG, "whether several choices were held and none is known as the last"),
    Column("gold", FLAG, "whether it counts as a label; see below"),
    Column("starter", FLAG, "whether the voter had started the debate"),
    Column("judge_visible", FLAG, "whether a judge's scores could be read before"),
    Column("late_seen", FLAG, "whether it was found only after a deadline that the bot missed"),
    Column("tally_visible", FLAG, "whether others' votes could be seen"),
    Column("votes_seen_before", WHOLE, "how many others had voted before"),
    Column("changes", WHOLE, "how often the voter changed to another choice"),
    Column("first_at", MOMENT, "when the voter first chose, to the minute"),
    Column("last_at", MOMENT, "when the standing choice was made, to the minute"),
    Column("ballot", TEXT, "`open`, `secret` or `private`"),
    _PLATFORM,
)
