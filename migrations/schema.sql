-- Every table of revision 0100, made from engine/store/tables.py by: make schema
CREATE TABLE adjustments (
	debate VARCHAR(26) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	subject VARCHAR(255) NOT NULL, 
	side VARCHAR(8) NOT NULL, 
	criterion VARCHAR(32) NOT NULL, 
	amount FLOAT NOT NULL, 
	reason TEXT NOT NULL, 
	"by" VARCHAR(255) NOT NULL, 
	CONSTRAINT pk_adjustments PRIMARY KEY (debate, name), 
	CONSTRAINT fk_adjustments_debate FOREIGN KEY(debate) REFERENCES debates (id)
);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE annotators (
	"key" VARCHAR(32) NOT NULL, 
	task VARCHAR(40) NOT NULL, 
	person INTEGER NOT NULL, 
	link VARCHAR(64), 
	claim VARCHAR(64), 
	joined_at DATETIME NOT NULL, 
	excluded BOOLEAN NOT NULL, 
	CONSTRAINT pk_annotators PRIMARY KEY ("key"), 
	CONSTRAINT uq_annotators_task_person UNIQUE (task, person), 
	CONSTRAINT uq_annotators_link_claim UNIQUE (link, claim), 
	CONSTRAINT fk_annotators_task FOREIGN KEY(task) REFERENCES label_tasks (name), 
	CONSTRAINT fk_annotators_person FOREIGN KEY(person) REFERENCES people (id)
);
CREATE TABLE artifacts (
	debate VARCHAR(26) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	kind VARCHAR(32) NOT NULL, 
	valid BOOLEAN NOT NULL, 
	body TEXT NOT NULL, 
	CONSTRAINT pk_artifacts PRIMARY KEY (debate, name), 
	CONSTRAINT fk_artifacts_debate FOREIGN KEY(debate) REFERENCES debates (id)
);
CREATE TABLE asked (
	debate VARCHAR(26) NOT NULL, 
	number INTEGER NOT NULL, 
	person INTEGER, 
	text TEXT NOT NULL, 
	asked_at DATETIME NOT NULL, 
	removed VARCHAR(12) NOT NULL, 
	removed_at DATETIME, 
	CONSTRAINT pk_asked PRIMARY KEY (debate, number), 
	CONSTRAINT fk_asked_debate FOREIGN KEY(debate) REFERENCES debates (id), 
	CONSTRAINT fk_asked_person FOREIGN KEY(person) REFERENCES people (id)
);
CREATE TABLE ballots (
	debate VARCHAR(26) NOT NULL, 
	step VARCHAR(255) NOT NULL, 
	juror VARCHAR(200) NOT NULL, 
	valid BOOLEAN NOT NULL, 
	body TEXT NOT NULL, 
	CONSTRAINT pk_ballots PRIMARY KEY (debate, step), 
	CONSTRAINT fk_ballots_debate FOREIGN KEY(debate) REFERENCES debates (id)
);
CREATE TABLE calls (
	debate VARCHAR(26) NOT NULL, 
	step VARCHAR(255) NOT NULL, 
	attempt INTEGER NOT NULL, 
	role VARCHAR(8) NOT NULL, 
	state VARCHAR(8) NOT NULL, 
	model VARCHAR(200) NOT NULL, 
	request TEXT NOT NULL, 
	prompt_hash VARCHAR(64) NOT NULL, 
	reply TEXT, 
	error TEXT NOT NULL, 
	tokens_in INTEGER, 
	tokens_out INTEGER, 
	tokens_reasoning INTEGER, 
	tokens_cached INTEGER, 
	cost FLOAT, 
	cost_max FLOAT NOT NULL, 
	cost_origin VARCHAR(8) DEFAULT 'unknown' NOT NULL, 
	latency FLOAT, 
	started_at DATETIME NOT NULL, 
	CONSTRAINT pk_calls PRIMARY KEY (debate, step, attempt), 
	CONSTRAINT fk_calls_debate FOREIGN KEY(debate) REFERENCES debates (id)
);
CREATE TABLE communities (
	platform VARCHAR(32) NOT NULL, 
	community VARCHAR(128) NOT NULL, 
	settings TEXT NOT NULL, 
	joined_at DATETIME NOT NULL, 
	left_at DATETIME, 
	page VARCHAR(32), 
	CONSTRAINT pk_communities PRIMARY KEY (platform, community)
);
CREATE TABLE connection_gaps (
	number INTEGER NOT NULL, 
	platform VARCHAR(32) NOT NULL, 
	ended_at DATETIME NOT NULL, 
	CONSTRAINT pk_connection_gaps PRIMARY KEY (number)
);
CREATE TABLE debates (
	id VARCHAR(26) NOT NULL, 
	number INTEGER NOT NULL, 
	platform VARCHAR(32) NOT NULL, 
	community VARCHAR(128) NOT NULL, 
	place VARCHAR(128) NOT NULL, 
	starter INTEGER, 
	status VARCHAR(16) NOT NULL, 
	reason TEXT NOT NULL, 
	stop TEXT, 
	gone BOOLEAN NOT NULL, 
	thread VARCHAR(128), 
	format VARCHAR(32) NOT NULL, 
	language VARCHAR(35) NOT NULL, 
	setup TEXT NOT NULL, 
	rehearsal BOOLEAN DEFAULT 0 NOT NULL, 
	reserved_usd FLOAT NOT NULL, 
	budget_day VARCHAR(10) NOT NULL, 
	settled_usd FLOAT NOT NULL, 
	created_at DATETIME NOT NULL, 
	opened_at DATETIME, 
	read_at DATETIME, 
	closed_early BOOLEAN NOT NULL, 
	revealed_at DATETIME, 
	mirror VARCHAR(26), 
	mirror_revealed_at DATETIME, 
	gaps INTEGER DEFAULT '0' NOT NULL, 
	scripted BOOLEAN DEFAULT 0 NOT NULL, 
	rematch_of VARCHAR(26), 
	series VARCHAR(64), 
	series_key VARCHAR(32), 
	arm VARCHAR(64), 
	cause VARCHAR(16), 
	cause_model VARCHAR(200), 
	pruned_at DATETIME, 
	partition_key BIGINT, 
	CONSTRAINT pk_debates PRIMARY KEY (id), 
	CONSTRAINT uq_debates_number UNIQUE (number), 
	CONSTRAINT fk_debates_starter FOREIGN KEY(starter) REFERENCES people (id)
);
CREATE TABLE deletions (
	debate VARCHAR(26) NOT NULL, 
	platform VARCHAR(32) NOT NULL, 
	community VARCHAR(128) NOT NULL, 
	partition_key BIGINT, 
	asked_at DATETIME NOT NULL, 
	body TEXT, 
	CONSTRAINT pk_deletions PRIMARY KEY (debate)
);
CREATE TABLE fits (
	number INTEGER NOT NULL, 
	rehearsal BOOLEAN NOT NULL, 
	made_at DATETIME NOT NULL, 
	evidence TEXT NOT NULL, 
	body TEXT NOT NULL, 
	CONSTRAINT pk_fits PRIMARY KEY (number)
);
CREATE TABLE guests (
	debate VARCHAR(26) NOT NULL, 
	person INTEGER NOT NULL, 
	names TEXT NOT NULL, 
	accepted BOOLEAN, 
	answered_at DATETIME, 
	CONSTRAINT pk_guests PRIMARY KEY (debate), 
	CONSTRAINT fk_guests_debate FOREIGN KEY(debate) REFERENCES debates (id), 
	CONSTRAINT fk_guests_person FOREIGN KEY(person) REFERENCES people (id)
);
CREATE TABLE install_states (
	digest VARCHAR(64) NOT NULL, 
	until DATETIME NOT NULL, 
	CONSTRAINT pk_install_states PRIMARY KEY (digest)
);
CREATE TABLE installation (
	name VARCHAR(64) NOT NULL, 
	value TEXT NOT NULL, 
	CONSTRAINT pk_installation PRIMARY KEY (name)
);
CREATE TABLE installs (
	platform VARCHAR(32) NOT NULL, 
	community VARCHAR(128) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	account VARCHAR(128) NOT NULL, 
	token TEXT NOT NULL, 
	installed_at DATETIME NOT NULL, 
	CONSTRAINT pk_installs PRIMARY KEY (platform, community)
);
CREATE TABLE interventions (
	number INTEGER NOT NULL, 
	debate VARCHAR(26) NOT NULL, 
	question VARCHAR(16) NOT NULL, 
	step VARCHAR(255) NOT NULL, 
	act VARCHAR(12) NOT NULL, 
	option VARCHAR(8), 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_interventions PRIMARY KEY (number), 
	CONSTRAINT fk_interventions_debate FOREIGN KEY(debate) REFERENCES debates (id)
);
CREATE TABLE judgings (
	debate VARCHAR(26) NOT NULL, 
	number INTEGER NOT NULL, 
	judges TEXT NOT NULL, 
	body TEXT, 
	mode VARCHAR(16), 
	CONSTRAINT pk_judgings PRIMARY KEY (debate, number), 
	CONSTRAINT fk_judgings_debate FOREIGN KEY(debate) REFERENCES debates (id)
);
CREATE TABLE label_debates (
	task VARCHAR(40) NOT NULL, 
	debate VARCHAR(26) NOT NULL, 
	rank INTEGER NOT NULL, 
	sides VARCHAR(8) NOT NULL, 
	known VARCHAR(8), 
	taken INTEGER NOT NULL, 
	CONSTRAINT pk_label_debates PRIMARY KEY (task, debate), 
	CONSTRAINT fk_label_debates_task FOREIGN KEY(task) REFERENCES label_tasks (name), 
	CONSTRAINT fk_label_debates_debate FOREIGN KEY(debate) REFERENCES debates (id)
);
CREATE TABLE label_links (
	digest VARCHAR(64) NOT NULL, 
	task VARCHAR(40) NOT NULL, 
	people INTEGER NOT NULL, 
	used INTEGER NOT NULL, 
	until DATETIME NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_label_links PRIMARY KEY (digest), 
	CONSTRAINT fk_label_links_task FOREIGN KEY(task) REFERENCES label_tasks (name)
);
CREATE TABLE label_tasks (
	name VARCHAR(40) NOT NULL, 
	platform VARCHAR(32) NOT NULL, 
	community VARCHAR(128) NOT NULL, 
	created_at DATETIME NOT NULL, 
	closed_at DATETIME, 
	body TEXT NOT NULL, 
	CONSTRAINT pk_label_tasks PRIMARY KEY (name)
);
CREATE TABLE learnt (
	"key" VARCHAR(128) NOT NULL, 
	source VARCHAR(64) NOT NULL, 
	rehearsal BOOLEAN NOT NULL, 
	ballots INTEGER NOT NULL, 
	body TEXT NOT NULL, 
	CONSTRAINT pk_learnt PRIMARY KEY ("key")
);
CREATE TABLE leases (
	name VARCHAR(80) NOT NULL, 
	epoch INTEGER NOT NULL, 
	holder VARCHAR(64) NOT NULL, 
	until DATETIME NOT NULL, 
	CONSTRAINT pk_leases PRIMARY KEY (name)
);
CREATE TABLE listings (
	debate VARCHAR(26) NOT NULL, 
	topic TEXT NOT NULL, 
	models TEXT NOT NULL, 
	people VARCHAR(32), 
	jury VARCHAR(32), 
	agree BOOLEAN, 
	votes INTEGER, 
	dispute FLOAT, 
	lead FLOAT, 
	usd FLOAT, 
	CONSTRAINT pk_listings PRIMARY KEY (debate), 
	CONSTRAINT fk_listings_debate FOREIGN KEY(debate) REFERENCES debates (id)
);
CREATE TABLE outbox (
	id INTEGER NOT NULL, 
	debate VARCHAR(26) NOT NULL, 
	platform VARCHAR(32) NOT NULL, 
	number INTEGER NOT NULL, 
	"key" VARCHAR(255) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	target VARCHAR(255), 
	message TEXT NOT NULL, 
	parts TEXT, 
	refs TEXT NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	error TEXT NOT NULL, 
	deadline DATETIME, 
	queued_at DATETIME NOT NULL, 
	CONSTRAINT pk_outbox PRIMARY KEY (id), 
	CONSTRAINT uq_outbox_debate_key UNIQUE (debate, "key"), 
	CONSTRAINT fk_outbox_debate FOREIGN KEY(debate) REFERENCES debates (id)
);
CREATE TABLE people (
	id INTEGER NOT NULL, 
	platform VARCHAR(32) NOT NULL, 
	user VARCHAR(128), 
	opted_out BOOLEAN NOT NULL, 
	since DATETIME, 
	bot BOOLEAN, 
	scoreboard BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_people PRIMARY KEY (id), 
	CONSTRAINT uq_people_platform_user UNIQUE (platform, user)
);
CREATE TABLE questions (
	debate VARCHAR(26) NOT NULL, 
	question VARCHAR(16) NOT NULL, 
	step VARCHAR(255) NOT NULL, 
	message VARCHAR(128), 
	opened_at DATETIME, 
	closes_at DATETIME, 
	close_asked_at DATETIME, 
	extended BOOLEAN NOT NULL, 
	closed_at DATETIME, 
	unread BOOLEAN NOT NULL, 
	read_at DATETIME, 
	CONSTRAINT pk_questions PRIMARY KEY (debate, question, step), 
	CONSTRAINT fk_questions_debate FOREIGN KEY(debate) REFERENCES debates (id)
);
CREATE TABLE scores (
	debate VARCHAR(26) NOT NULL, 
	subject VARCHAR(255) NOT NULL, 
	side VARCHAR(8) NOT NULL, 
	criterion VARCHAR(32) NOT NULL, 
	value FLOAT NOT NULL, 
	original FLOAT, 
	spread FLOAT, 
	CONSTRAINT pk_scores PRIMARY KEY (debate, subject, side, criterion), 
	CONSTRAINT fk_scores_debate FOREIGN KEY(debate) REFERENCES debates (id)
);
CREATE TABLE sealed_answers (
	debate VARCHAR(26) NOT NULL, 
	answer TEXT NOT NULL, 
	side VARCHAR(1), 
	choices TEXT NOT NULL, 
	CONSTRAINT pk_sealed_answers PRIMARY KEY (debate), 
	CONSTRAINT fk_sealed_answers_debate FOREIGN KEY(debate) REFERENCES debates (id)
);
CREATE TABLE series (
	name VARCHAR(64) NOT NULL, 
	body TEXT NOT NULL, 
	usd FLOAT, 
	stop BOOLEAN DEFAULT 0 NOT NULL, 
	begun_at DATETIME NOT NULL, 
	platform VARCHAR(32), 
	community VARCHAR(128), 
	due_at DATETIME, 
	problem TEXT, 
	CONSTRAINT pk_series PRIMARY KEY (name)
);
CREATE TABLE sheets (
	id VARCHAR(32) NOT NULL, 
	task VARCHAR(40) NOT NULL, 
	debate VARCHAR(26) NOT NULL, 
	person INTEGER NOT NULL, 
	number INTEGER, 
	kind VARCHAR(8) NOT NULL, 
	"order" VARCHAR(8) NOT NULL, 
	given_at DATETIME NOT NULL, 
	answered_at DATETIME, 
	changed_at DATETIME, 
	exposed BOOLEAN NOT NULL, 
	held BOOLEAN NOT NULL, 
	body TEXT, 
	CONSTRAINT pk_sheets PRIMARY KEY (id), 
	CONSTRAINT uq_sheets_task_person_number UNIQUE (task, person, number), 
	CONSTRAINT fk_sheets_task FOREIGN KEY(task) REFERENCES label_tasks (name), 
	CONSTRAINT fk_sheets_debate FOREIGN KEY(debate) REFERENCES debates (id), 
	CONSTRAINT fk_sheets_person FOREIGN KEY(person) REFERENCES people (id)
);
CREATE TABLE spoken (
	debate VARCHAR(26) NOT NULL, 
	step VARCHAR(255) NOT NULL, 
	person INTEGER NOT NULL, 
	words INTEGER NOT NULL, 
	text TEXT, 
	spoken_at DATETIME, 
	withheld VARCHAR(8), 
	CONSTRAINT pk_spoken PRIMARY KEY (debate, step), 
	CONSTRAINT fk_spoken_debate FOREIGN KEY(debate) REFERENCES debates (id), 
	CONSTRAINT fk_spoken_person FOREIGN KEY(person) REFERENCES people (id)
);
CREATE TABLE suggestions (
	number INTEGER NOT NULL, 
	platform VARCHAR(32) NOT NULL, 
	community VARCHAR(128) NOT NULL, 
	topic VARCHAR(16) NOT NULL, 
	text TEXT NOT NULL, 
	suggester INTEGER, 
	approved BOOLEAN NOT NULL, 
	suggested_at DATETIME NOT NULL, 
	debate VARCHAR(26), 
	CONSTRAINT pk_suggestions PRIMARY KEY (number), 
	CONSTRAINT uq_suggestions_platform_community_topic UNIQUE (platform, community, topic), 
	CONSTRAINT fk_suggestions_suggester FOREIGN KEY(suggester) REFERENCES people (id)
);
CREATE TABLE targets (
	platform VARCHAR(32) NOT NULL, 
	place VARCHAR(128) NOT NULL, 
	message VARCHAR(128) NOT NULL, 
	debate VARCHAR(26) NOT NULL, 
	question VARCHAR(16) NOT NULL, 
	step VARCHAR(255) NOT NULL, 
	ballot VARCHAR(8) NOT NULL, 
	options VARCHAR(64) NOT NULL, 
	closed_at DATETIME, 
	seeds VARCHAR(4), 
	CONSTRAINT pk_targets PRIMARY KEY (platform, place, message), 
	CONSTRAINT fk_targets_debate FOREIGN KEY(debate) REFERENCES debates (id)
);
CREATE TABLE templates (
	digest VARCHAR(64) NOT NULL, 
	texts TEXT NOT NULL, 
	CONSTRAINT pk_templates PRIMARY KEY (digest)
);
CREATE TABLE tombstones (
	digest VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_tombstones PRIMARY KEY (digest)
);
CREATE TABLE turns (
	debate VARCHAR(26) NOT NULL, 
	step VARCHAR(255) NOT NULL, 
	number INTEGER NOT NULL, 
	body TEXT NOT NULL, 
	CONSTRAINT pk_turns PRIMARY KEY (debate, step), 
	CONSTRAINT fk_turns_debate FOREIGN KEY(debate) REFERENCES debates (id)
);
CREATE TABLE upvotes (
	suggestion INTEGER NOT NULL, 
	person INTEGER NOT NULL, 
	CONSTRAINT pk_upvotes PRIMARY KEY (suggestion, person), 
	CONSTRAINT fk_upvotes_suggestion FOREIGN KEY(suggestion) REFERENCES suggestions (number), 
	CONSTRAINT fk_upvotes_person FOREIGN KEY(person) REFERENCES people (id)
);
CREATE TABLE usage (
	scope VARCHAR(200) NOT NULL, 
	day VARCHAR(10) NOT NULL, 
	reserved_usd FLOAT NOT NULL, 
	spent_usd FLOAT NOT NULL, 
	debates INTEGER NOT NULL, 
	warned BOOLEAN DEFAULT 0 NOT NULL, 
	purged BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_usage PRIMARY KEY (scope, day)
);
CREATE TABLE verdicts (
	debate VARCHAR(26) NOT NULL, 
	judge VARCHAR(32) NOT NULL, 
	body TEXT NOT NULL, 
	CONSTRAINT pk_verdicts PRIMARY KEY (debate, judge), 
	CONSTRAINT fk_verdicts_debate FOREIGN KEY(debate) REFERENCES debates (id)
);
CREATE TABLE vote_events (
	number INTEGER NOT NULL, 
	debate VARCHAR(26) NOT NULL, 
	person INTEGER NOT NULL, 
	option VARCHAR(8) NOT NULL, 
	variant VARCHAR(160) NOT NULL, 
	added BOOLEAN NOT NULL, 
	how VARCHAR(12) NOT NULL, 
	event VARCHAR(128), 
	received_at DATETIME NOT NULL, 
	given_at DATETIME, 
	heard_from DATETIME, 
	newer_since DATETIME, 
	read_at DATETIME, 
	late_seen BOOLEAN NOT NULL, 
	question VARCHAR(16) NOT NULL, 
	step VARCHAR(255) NOT NULL, 
	account_days INTEGER, 
	member_days INTEGER, 
	CONSTRAINT pk_vote_events PRIMARY KEY (number), 
	CONSTRAINT uq_vote_events_debate_event UNIQUE (debate, event), 
	CONSTRAINT fk_vote_events_debate FOREIGN KEY(debate) REFERENCES debates (id), 
	CONSTRAINT fk_vote_events_person FOREIGN KEY(person) REFERENCES people (id)
);
CREATE TABLE votes (
	debate VARCHAR(26) NOT NULL, 
	person INTEGER NOT NULL, 
	question VARCHAR(16) NOT NULL, 
	step VARCHAR(255) NOT NULL, 
	body TEXT NOT NULL, 
	CONSTRAINT pk_votes PRIMARY KEY (debate, person, question, step), 
	CONSTRAINT fk_votes_debate FOREIGN KEY(debate) REFERENCES debates (id), 
	CONSTRAINT fk_votes_person FOREIGN KEY(person) REFERENCES people (id)
);
CREATE INDEX ix_annotators_person ON annotators (person);
CREATE INDEX ix_asked_person ON asked (person);
CREATE INDEX ix_calls_out ON calls (state) WHERE state = 'out';
CREATE UNIQUE INDEX ix_communities_page ON communities (page);
CREATE INDEX ix_connection_gaps_platform ON connection_gaps (platform);
CREATE INDEX ix_debates_community_created_at ON debates (community, created_at);
CREATE INDEX ix_debates_created_at ON debates (created_at);
CREATE INDEX ix_debates_mirror ON debates (mirror);
CREATE INDEX ix_debates_platform_thread ON debates (platform, thread);
CREATE INDEX ix_debates_rematch_of ON debates (rematch_of);
CREATE UNIQUE INDEX ix_debates_series_series_key ON debates (series, series_key);
CREATE INDEX ix_debates_starter ON debates (starter);
CREATE INDEX ix_debates_status_platform_community ON debates (status, platform, community);
CREATE INDEX ix_debates_unpruned ON debates (created_at) WHERE pruned_at IS NULL;
CREATE INDEX ix_guests_person ON guests (person);
CREATE INDEX ix_interventions_debate ON interventions (debate);
CREATE INDEX ix_label_debates_debate ON label_debates (debate);
CREATE INDEX ix_label_debates_task_taken_rank ON label_debates (task, taken, rank);
CREATE INDEX ix_label_links_task ON label_links (task);
CREATE INDEX ix_leases_held ON leases (holder) WHERE holder <> '';
CREATE INDEX ix_outbox_debate_number ON outbox (debate, number);
CREATE INDEX ix_outbox_open ON outbox (debate, number) WHERE state IN ('pending', 'sending');
CREATE INDEX ix_questions_open ON questions (closes_at) WHERE closed_at IS NULL AND closes_at IS NOT NULL;
CREATE INDEX ix_sheets_debate_person ON sheets (debate, person);
CREATE INDEX ix_sheets_open ON sheets (task, given_at) WHERE held AND answered_at IS NULL;
CREATE INDEX ix_sheets_person ON sheets (person);
CREATE INDEX ix_spoken_person ON spoken (person);
CREATE INDEX ix_suggestions_debate ON suggestions (debate);
CREATE INDEX ix_suggestions_suggester ON suggestions (suggester);
CREATE INDEX ix_targets_debate ON targets (debate);
CREATE INDEX ix_targets_message ON targets (message);
CREATE INDEX ix_targets_seeds ON targets (platform) WHERE seeds = 'left';
CREATE INDEX ix_upvotes_person ON upvotes (person);
CREATE INDEX ix_usage_day ON usage (day);
CREATE INDEX ix_usage_purged ON usage (day) WHERE purged;
CREATE INDEX ix_vote_events_debate_question ON vote_events (debate, question);
CREATE INDEX ix_vote_events_person ON vote_events (person);
CREATE INDEX ix_votes_person ON votes (person);
INSERT INTO alembic_version VALUES ('0100');
