"""The columns of every table, each declared once: for the rows, the card and other formats.

Bump `SCHEMA_VERSION` with any change that a reader of an export could notice.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

SCHEMA_VERSION = 3

Scalar: TypeAlias = Literal["string", "bool", "int64", "float64", "timestamp[s, tz=UTC]"]
TEXT: Scalar = "string"
FLAG: Scalar = "bool"
WHOLE: Scalar = "int64"
REAL: Scalar = "float64"
# ISO 8601 in JSON. Declared as text it would lose its zone: readers of JSON take it for a moment
# without asking, and then write it out in their own way.
MOMENT: Scalar = "timestamp[s, tz=UTC]"
Maker: TypeAlias = Literal["Rostrum", "asker", "model", "backend", "juror", "judge", "people"]


class Column(NamedTuple):
    """A column: a scalar type, or the fields of the records that it is a list of.

    `about` says what it holds and, behind the last semicolon, when it is null. `maker` is who
    made what it holds, `unit` what it is measured in.
    """

    name: str
    type: Scalar | tuple[Column, ...]
    about: str
    maker: Maker = "Rostrum"
    unit: str = ""

    @property
    def null(self) -> str:
        """When the column is null; empty for never."""
        _, found, when = self.about.rpartition("; null")
        return when.strip() if found else ""

    @property
    def meaning(self) -> str:
        """What the column holds, without when it is null."""
        return self.about.rpartition("; null")[0] or self.about


def _by(maker: Maker, *columns: Column) -> tuple[Column, ...]:
    """Return columns as those of one maker; those that name another keep it."""
    return tuple(
        column if column.maker != "Rostrum" else column._replace(maker=maker) for column in columns
    )


# Maps are written as lists of records, because a table's columns must not depend on how many
# sides a format has.
SIDE = Column("side", TEXT, "the contender")
DEBATE = Column("debate_id", TEXT, "the debate, by ULID; joins the tables")
SPLIT = Column("split", TEXT, "`train`, `validation` or `test`, by topic")
REPLACED = Column(
    "replaced",
    TEXT,
    "models that others took the place of while the debate went on, as `old=new, …`; null for none",
)
_PLATFORM = Column("platform", TEXT, "where it was held: `terminal`, `discord`, `slack`")
_TOKENS_IN = Column(
    "tokens_in",
    WHOLE,
    "what the call read; null where the backend does not say",
    "backend",
    "tokens",
)
_TOKENS_OUT = Column(
    "tokens_out",
    WHOLE,
    "what the call wrote; null where the backend does not say",
    "backend",
    "tokens",
)
_LATENCY = Column(
    "latency_s",
    REAL,
    "how long the call that succeeded took; null without one",
    "Rostrum",
    "seconds",
)
_COST = Column(
    "cost_usd", REAL, "what that call cost; null when the price is unknown", "backend", "USD"
)
_COST_ORIGIN = Column(
    "cost_origin",
    TEXT,
    "where that cost is known from: `reply`, `settings`, `backend`, `bundled`, `local`, or "
    "`unknown`; null without a call",
)
_PROMPT = Column("prompt_hash", TEXT, "SHA-256 of the prompt's messages; null without a call")

TURN_STEP = "the turn's name in its debate; `scores` and `adjustments` have it as `subject`"
_ASKED = (
    Column("status", TEXT, "`closed`; or `partial`, `cancelled`, `failed`: ended before a vote"),
    _PLATFORM,
    Column("topic", TEXT, "what was debated; mentions removed", "asker"),
    Column("topic_id", TEXT, "shared by rewordings of a topic in case, spacing or punctuation"),
    *_by(
        "asker",
        Column("conditions", TEXT, "what both sides were told to assume; may be empty"),
        Column("language", TEXT, "BCP-47 code"),
        Column("format", TEXT, "the debate's format"),
        Column("rounds", WHOLE, "how many rebuttal rounds were asked for", unit="rounds"),
        Column("turn_order", TEXT, "`sequential`, or `simultaneous`: nobody replies in a round"),
        Column("blind", FLAG, "whether the models' names were kept from jurors"),
        Column("scores", TEXT, "`after_vote`, or `live`: a judge could be read before the vote"),
        Column("ballot", TEXT, "`open`, `secret` or `private`"),
        Column("vote_minutes", REAL, "how long the vote was to be open", unit="minutes"),
        Column("quorum", WHOLE, "gold votes that a human winner needs", unit="votes"),
    ),
    Column("rehearsal", FLAG, "whether a speaker, juror or judge is no language model"),
    Column("mirror_of", TEXT, "the debate that this one repeats, sides exchanged; null for none"),
    Column(
        "sides",
        (
            SIDE,
            Column("backend", TEXT, "the endpoint's name in the installation", "asker"),
            Column("model", TEXT, "the model's name there", "asker"),
            Column("family", TEXT, "the model's family, by which jurors are recused"),
            Column("drawn", FLAG, "whether the model was drawn at random"),
        ),
        "who argued each side",
    ),
)
_SPOKEN = (
    Column("n_turns", WHOLE, "turns held", unit="turns"),
    Column("spoke_first", TEXT, "the side whose turn was posted first; null without turns"),
    Column("spoke_last", TEXT, "the side whose turn was posted last; null without turns"),
)
_JUDGED = (
    Column("jury_winner", TEXT, "a side or `tie`; null without a verdict", "juror"),
    Column("jury_problem", TEXT, "why there is no verdict; null with one, or without a panel"),
    Column(
        "p_a",
        REAL,
        "the panel's probability that A won; null without a verdict, or with no A",
        unit="share",
    ),
    Column(
        "p",
        (SIDE, Column("p", REAL, "the panel's probability that it won", unit="share")),
        "the probability of every side; null without a verdict",
    ),
    Column("z", REAL, "the panel's signal, balanced over orders; null without a verdict"),
    Column(
        "n_valid", WHOLE, "valid ballots that could decide; null without a panel", unit="ballots"
    ),
    Column(
        "n_invalid", WHOLE, "ballots that could not be read; null without a panel", unit="ballots"
    ),
    Column(
        "n_audit",
        WHOLE,
        "those of the audit, which decide nothing; null without a panel",
        unit="ballots",
    ),
    Column(
        "effective_votes",
        REAL,
        "what the panel amounts to; null while unmeasured",
        unit="independent votes",
    ),
    Column(
        "order_alone",
        FLAG,
        "whether the jury ties as its lead could come from the order alone; null without a panel",
    ),
    Column("panel_mode", TEXT, "`adaptive` or `strict`"),
    Column("rubric", TEXT, "the criteria and weights that jurors scored by"),
    Column("recusal_failed", FLAG, "whether jurors of a debater's family had to sit"),
)
_COUNTED = tuple(
    Column(
        f"{prefix}_{option}",
        WHOLE,
        f"{kind} votes for {meaning}; null without {needs}",
        "people",
        "votes",
    )
    for prefix, kind in (("n", "standing"), ("gold", "gold"))
    for option, meaning, needs in (
        ("a", "A", "a vote, or with no A"),
        ("b", "B", "a vote, or with no B"),
        ("tie", "a tie", "a vote"),
        ("weak", "“both weak”", "a vote"),
    )
)
_VOTED = (
    Column("human_winner", TEXT, "a side or `tie`, by gold votes; null below the quorum", "people"),
    *_COUNTED,
    Column(
        "tally",
        (
            Column("option", TEXT, "a side, `tie` or `weak`"),
            Column("n", WHOLE, "standing votes", "people", "votes"),
            Column("gold", WHOLE, "gold votes", "people", "votes"),
        ),
        "the count of every option; null without a vote",
    ),
    Column(
        "n_ambiguous", WHOLE, "votes in no count, as none of several stands; null without a vote"
    ),
    Column(
        "share_a", REAL, "gold A over gold A and B; null when nobody chose either", unit="share"
    ),
    Column("share_low", REAL, "lower Wilson 95 % bound of `share_a`; null with it", unit="share"),
    Column("share_high", REAL, "upper Wilson 95 % bound of `share_a`; null with it", unit="share"),
    Column("quorum_met", FLAG, "whether the gold votes reached the quorum; null without a vote"),
    Column("opted_out", WHOLE, "people who answered but have no row in `votes`", unit="people"),
    Column(
        "persuaded",
        (SIDE, Column("moved", WHOLE, "people who moved towards it", "people", "people")),
        "of those who took a stance twice, how many moved towards each side; null without stances",
    ),
    Column(
        "n_persuaded",
        WHOLE,
        "those who took a stance twice; null without stances",
        "people",
        "people",
    ),
    Column(
        "persuasion_winner",
        TEXT,
        "the side that more people moved towards, or `tie`; null when nobody took a stance twice",
        "people",
    ),
    Column(
        "agree",
        FLAG,
        "whether people and panel name the same winner, a tie on both sides included; null unless "
        "both named a side or a tie, and the panel was blind",
    ),
)
_ENDED = (
    Column("opened_at", MOMENT, "when the thread was opened; null if it never was", unit="UTC"),
    Column("vote_opened_at", MOMENT, "when the vote was opened; null without one", unit="UTC"),
    Column(
        "revealed_at",
        MOMENT,
        "when the vote closed and the models were named; null without one",
        unit="UTC",
    ),
    Column("closed_early", FLAG, "whether a manager closed the vote before its time"),
    Column("extended", FLAG, "whether the vote was extended, being below its quorum"),
    Column(
        "gaps",
        WHOLE,
        "messages that voters could not read, or may not have: missing in the thread",
        unit="messages",
    ),
    Column("n_calls", WHOLE, "model calls, jurors' and failed ones included", unit="tries"),
    Column("cost_usd", REAL, "all calls; null when the price of one is unknown", "backend", "USD"),
    Column(
        "cost_origin",
        TEXT,
        "where the calls' costs are known from, each once with + between; null without a call",
    ),
    Column("schema_version", WHOLE, "the version of these columns"),
    Column("format_version", WHOLE, "the version of the format's script"),
    Column("templates", TEXT, "SHA-256 of the prompt templates"),
    Column("prompt_hash", TEXT, "SHA-256 over the prompts of every step; null without a call"),
)
DEBATES = (DEBATE, SPLIT, REPLACED, *_ASKED, *_SPOKEN, *_JUDGED, *_VOTED, *_ENDED)

TURNS = (
    DEBATE,
    SPLIT,
    REPLACED,
    Column("number", WHOLE, "place in the debate, from 1"),
    Column("round", TEXT, "the round's name"),
    Column("place", WHOLE, "place within the round, from 1, in the order of posting"),
    SIDE,
    Column("seat", TEXT, "who spoke; on a team several seats share a side"),
    Column("step", TEXT, TURN_STEP),
    Column("text", TEXT, "what was said, in Markdown; mentions removed", "model"),
    Column("words", WHOLE, "its length by Unicode segmentation (UAX 29)", unit="words"),
    Column(
        "word_limit",
        WHOLE,
        "what was allowed; null without a limit on the whole turn",
        unit="words",
    ),
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
    Column(
        "scores",
        (
            Column("criterion", TEXT, "what was scored"),
            Column("score", REAL, "the score that stands", "judge", "points"),
        ),
        "what the format's own judge gave the turn; often empty",
    ),
    Column("model_asked", TEXT, "`backend/model` as it was asked for"),
    Column(
        "model_answered", TEXT, "the model that really answered, as its backend names it", "backend"
    ),
    Column("family", TEXT, "the family of the model asked"),
    Column(
        "stop_reason",
        TEXT,
        "why the model stopped, in the backend's word; null without a call",
        "backend",
    ),
    _TOKENS_IN,
    _TOKENS_OUT,
    _LATENCY,
    _COST,
    _COST_ORIGIN,
    _PROMPT,
    Column(
        "thumbs_up",
        WHOLE,
        "thumbs up before the reveal; null where the debate has no thumbs",
        "people",
        "people",
    ),
    Column(
        "thumbs_down", WHOLE, "thumbs down before the reveal; null likewise", "people", "people"
    ),
    Column(
        "thumbs_up_after",
        WHOLE,
        "thumbs up after the reveal, or first seen after it; null likewise",
        "people",
        "people",
    ),
    Column(
        "thumbs_down_after",
        WHOLE,
        "thumbs down after the reveal, or first seen after it; null likewise",
        "people",
        "people",
    ),
)

VERDICTS = (
    DEBATE,
    SPLIT,
    REPLACED,
    Column("juror", TEXT, "`backend/model` as it was asked for"),
    Column("family", TEXT, "the juror's family"),
    Column("order", TEXT, "the sides as they were shown, e.g. `BA`"),
    Column("audit", FLAG, "whether it only measures the effect of order and decides nothing"),
    Column("valid", FLAG, "whether the reply could be read; if not it says nothing of the debate"),
    Column("problem", TEXT, "what is wrong with the reply; null when nothing is"),
    Column(
        "repaired",
        FLAG,
        "whether its JSON had to be repaired, or had characters that no text can hold",
    ),
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
            Column("score", WHOLE, "1 to 10", "juror", "points"),
        ),
        "every score; null on an invalid ballot",
    ),
    Column("verdict", TEXT, "a side or `tie`; null on an invalid ballot", "juror"),
    Column(
        "confidence", REAL, "the juror's own, 0 to 1; null on an invalid ballot", "juror", "share"
    ),
    Column("reasons", TEXT, "the reasons, in neutral names; null on an invalid ballot", "juror"),
    Column("raw", TEXT, "the reply as it came, mentions removed; null when none came", "juror"),
    Column(
        "pos", REAL, "the juror's lean to the side shown first; null where unused", unit="points"
    ),
    Column("sd", REAL, "the spread of the juror's margins; null where unused", unit="points"),
    Column("weight", REAL, "the juror's weight, 1 on average; null where unused"),
    Column("slope", REAL, "what turns the panel's signal into a probability"),
    Column(
        "x",
        (SIDE, Column("x", REAL, "its signal")),
        "what the ballot says for each side, freed of lean and spread; null where unused",
    ),
    Column("rubric", TEXT, "the criteria and weights that jurors scored by"),
    Column("model_answered", TEXT, "the model that really answered; null when none did", "backend"),
    _TOKENS_IN,
    _TOKENS_OUT,
    _LATENCY,
    _COST,
    _COST_ORIGIN,
    _PROMPT,
)

VOTES = (
    DEBATE,
    SPLIT,
    REPLACED,
    Column("voter", TEXT, "a pseudonym that is the same throughout this export, and only here"),
    Column(
        "phase",
        TEXT,
        "`before_reveal`: on the debate, while the models were unknown; `after_reveal`: the same "
        "asked again when they were named; `stance_before` and `stance_after`: on the topic, "
        "before the first turn and with the vote",
    ),
    Column(
        "option",
        TEXT,
        "a side, `tie` or `weak`; on the topic `for`, `against` or `unsure`; several, as in "
        "`A+tie`, when ambiguous",
        "people",
    ),
    Column("ambiguous", FLAG, "whether several choices were held and none is known as the last"),
    Column(
        "gold",
        FLAG,
        "whether it was chosen independently, on debate or topic; see below",
    ),
    Column(
        "reason",
        TEXT,
        "why it is not gold: `judge`, `starter`, `ambiguous`, `mirror`, `gap` or `unread`; null "
        "when it is",
    ),
    Column("starter", FLAG, "whether the voter had started the debate"),
    Column("judge_visible", FLAG, "whether a judge's scores could be read before"),
    Column("mirror_revealed", FLAG, "whether the debate's mirror had named the models before"),
    Column("fast", FLAG, "whether nobody can have read the debate before it; see below"),
    Column("late_seen", FLAG, "whether it was found only after a deadline that the bot missed"),
    Column(
        "recovery",
        TEXT,
        "`complete`: everybody's reactions were read before the close, or there are buttons alone; "
        "`unread`: they could not be, so the vote is as last known; `unknown`: closed by a version "
        "that did not say",
    ),
    Column("tally_visible", FLAG, "whether others' votes could be seen"),
    Column("votes_seen_before", WHOLE, "how many others had voted before", unit="votes"),
    Column("changes", WHOLE, "how often the voter changed to another choice"),
    Column("first_at", MOMENT, "when the voter first chose", "people", "UTC, to the minute"),
    Column("last_at", MOMENT, "when the standing choice was made", "people", "UTC, to the minute"),
    Column("ballot", TEXT, "`open`, `secret` or `private`"),
    _PLATFORM,
)

ROLE = Column("role", TEXT, "`user` or `assistant`")
CONTENT = Column("content", TEXT, "the message, in Markdown; mentions removed")
MESSAGES = (CONTENT, ROLE)
