"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "communities",
        sa.Column("platform", sa.String(length=32), nullable=False),
        sa.Column("community", sa.String(length=128), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column(
            "left_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="when it removed Rostrum, which deletes its settings",
        ),
        sa.PrimaryKeyConstraint("platform", "community", name=op.f("pk_communities")),
        comment="What communities have set for their debates",
    )
    op.create_table(
        "installation",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_installation")),
        comment="What is fixed for this installation: secrets by name (hex), the debate counter",
    )
    op.create_table(
        "install_states",
        sa.Column(
            "digest",
            sa.String(length=64),
            nullable=False,
            comment="of the state that comes back",
        ),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_install_states")),
        comment="Who has begun to install Rostrum",
    )
    op.create_table(
        "installs",
        sa.Column("platform", sa.String(length=32), nullable=False),
        sa.Column("community", sa.String(length=128), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column(
            "account",
            sa.String(length=128),
            nullable=False,
            comment="the bot's own user there",
        ),
        sa.Column("token", sa.Text(), nullable=False, comment="encrypted with ROSTRUM_SECRET_KEY"),
        sa.Column("installed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("platform", "community", name=op.f("pk_installs")),
        comment="What communities gave that installed Rostrum by themselves",
    )
    op.create_table(
        "leases",
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("holder", sa.String(length=64), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_leases")),
    )
    op.create_table(
        "people",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("platform", sa.String(length=32), nullable=False),
        sa.Column(
            "user", sa.String(length=128), nullable=True, comment="null for one who was forgotten"
        ),
        sa.Column("opted_out", sa.Boolean(), nullable=False, comment="of exports"),
        sa.Column(
            "since",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="of one who came back: what began before takes no answers",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_people")),
        sa.UniqueConstraint("platform", "user", name=op.f("uq_people_platform_user")),
        comment="The only place where a platform's user id is kept",
    )
    op.create_table(
        "templates",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("texts", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_templates")),
    )
    op.create_table(
        "tombstones",
        sa.Column(
            "digest",
            sa.String(length=64),
            nullable=False,
            comment="keyed hash of platform and user id",
        ),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_tombstones")),
        comment="Who was forgotten and is not to be stored; nothing says which number they had",
    )
    op.create_table(
        "usage",
        sa.Column("scope", sa.String(length=200), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("reserved_usd", sa.Float(), nullable=False),
        sa.Column("spent_usd", sa.Float(), nullable=False),
        sa.Column("debates", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("scope", "day", name=op.f("pk_usage")),
        comment="Budgets: a community's money and a person's debates, by UTC day",
    )
    op.create_table(
        "debates",
        sa.Column("id", sa.String(length=26), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("platform", sa.String(length=32), nullable=False),
        sa.Column("community", sa.String(length=128), nullable=False),
        sa.Column("place", sa.String(length=128), nullable=False),
        sa.Column("starter", sa.Integer(), nullable=True),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("stop", sa.Text(), nullable=True, comment="why it was asked to stop"),
        sa.Column("gone", sa.Boolean(), nullable=False, comment="its thread was lost"),
        sa.Column("thread", sa.String(length=128), nullable=True),
        sa.Column("format", sa.String(length=32), nullable=False),
        sa.Column("language", sa.String(length=35), nullable=False),
        sa.Column("setup", sa.Text(), nullable=False),
        sa.Column("reserved_usd", sa.Float(), nullable=False),
        sa.Column(
            "budget_day",
            sa.String(length=10),
            nullable=False,
            comment="the UTC day it is counted in",
        ),
        sa.Column("settled_usd", sa.Float(), nullable=False, comment="counted in usage already"),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column(
            "opened_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="when the thread was opened",
        ),
        sa.Column(
            "stance_deadline",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="until when the first stance is asked for",
        ),
        sa.Column("stance_closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("vote_message", sa.String(length=128), nullable=True),
        sa.Column("vote_opened_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("vote_deadline", sa.DateTime(timezone=True), nullable=True),
        sa.Column("vote_extended", sa.Boolean(), nullable=False),
        sa.Column("closed_early", sa.Boolean(), nullable=False),
        sa.Column("revealed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "mirror",
            sa.String(length=26),
            nullable=True,
            comment="the debate that is this one with sides exchanged",
        ),
        sa.Column(
            "mirror_revealed_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="when that one named the models",
        ),
        sa.ForeignKeyConstraint(["starter"], ["people.id"], name=op.f("fk_debates_starter")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_debates")),
        sa.UniqueConstraint("number", name=op.f("uq_debates_number")),
    )
    op.create_index(
        op.f("ix_debates_community_created_at"),
        "debates",
        ["community", "created_at"],
        unique=False,
    )
    op.create_index(op.f("ix_debates_mirror"), "debates", ["mirror"], unique=False)
    op.create_index(
        op.f("ix_debates_platform_thread"), "debates", ["platform", "thread"], unique=False
    )
    op.create_index(
        op.f("ix_debates_status_platform_community"),
        "debates",
        ["status", "platform", "community"],
        unique=False,
    )
    op.create_table(
        "adjustments",
        sa.Column("debate", sa.String(length=26), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("side", sa.String(length=8), nullable=False),
        sa.Column("criterion", sa.String(length=32), nullable=False),
        sa.Column("amount", sa.Float(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("by", sa.String(length=255), nullable=False, comment="what brought it about"),
        sa.ForeignKeyConstraint(["debate"], ["debates.id"], name=op.f("fk_adjustments_debate")),
        sa.PrimaryKeyConstraint("debate", "name", name=op.f("pk_adjustments")),
        comment="Append-only: points added to scores after they were given",
    )
    op.create_table(
        "artifacts",
        sa.Column("debate", sa.String(length=26), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("valid", sa.Boolean(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False, comment="JSON; of which type, its kind says"),
        sa.ForeignKeyConstraint(["debate"], ["debates.id"], name=op.f("fk_artifacts_debate")),
        sa.PrimaryKeyConstraint("debate", "name", name=op.f("pk_artifacts")),
    )
    op.create_table(
        "ballots",
        sa.Column("debate", sa.String(length=26), nullable=False),
        sa.Column("step", sa.String(length=255), nullable=False),
        sa.Column("juror", sa.String(length=200), nullable=False),
        sa.Column("valid", sa.Boolean(), nullable=False),
        sa.Column(
            "body", sa.Text(), nullable=False, comment="without what the journal holds of its call"
        ),
        sa.ForeignKeyConstraint(["debate"], ["debates.id"], name=op.f("fk_ballots_debate")),
        sa.PrimaryKeyConstraint("debate", "step", name=op.f("pk_ballots")),
    )
    op.create_table(
        "calls",
        sa.Column("debate", sa.String(length=26), nullable=False),
        sa.Column("step", sa.String(length=255), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False, comment="out, done or failed"),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("prompt_hash", sa.String(length=64), nullable=False),
        sa.Column("reply", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("tokens_in", sa.Integer(), nullable=True),
        sa.Column("tokens_out", sa.Integer(), nullable=True),
        sa.Column("cost", sa.Float(), nullable=True),
        sa.Column("cost_max", sa.Float(), nullable=False),
        sa.Column("latency", sa.Float(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["debate"], ["debates.id"], name=op.f("fk_calls_debate")),
        sa.PrimaryKeyConstraint("debate", "step", "attempt", name=op.f("pk_calls")),
        comment="The journal: every try of every model call",
    )
    op.create_index(
        "ix_calls_out",
        "calls",
        ["state"],
        unique=False,
        sqlite_where=sa.text("state = 'out'"),
        postgresql_where=sa.text("state = 'out'"),
    )
    op.create_table(
        "interventions",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("debate", sa.String(length=26), nullable=False),
        sa.Column("question", sa.String(length=16), nullable=False),
        sa.Column("step", sa.String(length=255), nullable=False, comment="of a turn"),
        sa.Column("act", sa.String(length=12), nullable=False),
        sa.Column(
            "option", sa.String(length=8), nullable=True, comment="the one cleared; null for all"
        ),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["debate"], ["debates.id"], name=op.f("fk_interventions_debate")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_interventions")),
        comment="Append-only: what moderators did to the messages of a question",
    )
    op.create_index(op.f("ix_interventions_debate"), "interventions", ["debate"], unique=False)
    op.create_table(
        "outbox",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("debate", sa.String(length=26), nullable=False),
        sa.Column("platform", sa.String(length=32), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("target", sa.String(length=255), nullable=True),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("parts", sa.Text(), nullable=True),
        sa.Column("refs", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("deadline", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["debate"], ["debates.id"], name=op.f("fk_outbox_debate")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
        sa.UniqueConstraint("debate", "key", name=op.f("uq_outbox_debate_key")),
        comment="Messages on their way to a thread",
    )
    op.create_index(op.f("ix_outbox_debate_number"), "outbox", ["debate", "number"], unique=False)
    op.create_index(
        "ix_outbox_open",
        "outbox",
        ["debate", "number"],
        unique=False,
        sqlite_where=sa.text("state IN ('pending', 'sending')"),
        postgresql_where=sa.text("state IN ('pending', 'sending')"),
    )
    op.create_table(
        "scores",
        sa.Column("debate", sa.String(length=26), nullable=False),
        sa.Column(
            "subject",
            sa.String(length=255),
            nullable=False,
            comment="a turn's step, an argument's id",
        ),
        sa.Column("side", sa.String(length=8), nullable=False),
        sa.Column("criterion", sa.String(length=32), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.Column(
            "original",
            sa.Float(),
            nullable=True,
            comment="what the judge said, where a rule moved it",
        ),
        sa.ForeignKeyConstraint(["debate"], ["debates.id"], name=op.f("fk_scores_debate")),
        sa.PrimaryKeyConstraint("debate", "subject", "side", "criterion", name=op.f("pk_scores")),
        comment="Append-only: what a format's own judge gave",
    )
    op.create_table(
        "targets",
        sa.Column("platform", sa.String(length=32), nullable=False),
        sa.Column("place", sa.String(length=128), nullable=False),
        sa.Column("message", sa.String(length=128), nullable=False),
        sa.Column("debate", sa.String(length=26), nullable=False),
        sa.Column("question", sa.String(length=16), nullable=False),
        sa.Column("step", sa.String(length=255), nullable=False, comment="of a turn"),
        sa.Column("ballot", sa.String(length=8), nullable=False),
        sa.Column("options", sa.String(length=64), nullable=False, comment="with spaces between"),
        sa.Column(
            "deadline",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="until when it asks again after the reveal",
        ),
        sa.Column(
            "closed_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="since when its answers stay as they are",
        ),
        sa.ForeignKeyConstraint(["debate"], ["debates.id"], name=op.f("fk_targets_debate")),
        sa.PrimaryKeyConstraint("platform", "place", "message", name=op.f("pk_targets")),
        comment="The messages whose reactions and buttons mean something",
    )
    op.create_index(op.f("ix_targets_debate"), "targets", ["debate"], unique=False)
    op.create_index(
        op.f("ix_targets_question_closed_at"), "targets", ["question", "closed_at"], unique=False
    )
    op.create_table(
        "turns",
        sa.Column("debate", sa.String(length=26), nullable=False),
        sa.Column("step", sa.String(length=255), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["debate"], ["debates.id"], name=op.f("fk_turns_debate")),
        sa.PrimaryKeyConstraint("debate", "step", name=op.f("pk_turns")),
    )
    op.create_table(
        "verdicts",
        sa.Column("debate", sa.String(length=26), nullable=False),
        sa.Column("judge", sa.String(length=32), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["debate"], ["debates.id"], name=op.f("fk_verdicts_debate")),
        sa.PrimaryKeyConstraint("debate", "judge", name=op.f("pk_verdicts")),
    )
    op.create_table(
        "vote_events",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("debate", sa.String(length=26), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("option", sa.String(length=8), nullable=False),
        sa.Column("added", sa.Boolean(), nullable=False),
        sa.Column("how", sa.String(length=12), nullable=False),
        sa.Column("event", sa.String(length=128), nullable=True),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("late_seen", sa.Boolean(), nullable=False),
        sa.Column("question", sa.String(length=16), nullable=False),
        sa.Column(
            "step", sa.String(length=255), nullable=False, comment="of the turn, for a thumb"
        ),
        sa.ForeignKeyConstraint(["debate"], ["debates.id"], name=op.f("fk_vote_events_debate")),
        sa.ForeignKeyConstraint(["person"], ["people.id"], name=op.f("fk_vote_events_person")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_vote_events")),
        sa.UniqueConstraint("debate", "event", name=op.f("uq_vote_events_debate_event")),
        comment="Append-only; number is the order of receipt",
    )
    op.create_index(
        op.f("ix_vote_events_debate_question"), "vote_events", ["debate", "question"], unique=False
    )
    op.create_table(
        "votes",
        sa.Column("debate", sa.String(length=26), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("question", sa.String(length=16), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["debate"], ["debates.id"], name=op.f("fk_votes_debate")),
        sa.ForeignKeyConstraint(["person"], ["people.id"], name=op.f("fk_votes_person")),
        sa.PrimaryKeyConstraint("debate", "person", "question", name=op.f("pk_votes")),
        comment="What stood at the close, derived from vote_events",
    )
