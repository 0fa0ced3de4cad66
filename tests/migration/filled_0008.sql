BEGIN TRANSACTION;
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
INSERT INTO "alembic_version" VALUES('0008');
CREATE TABLE artifacts (
	debate VARCHAR(26) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	kind VARCHAR(32) NOT NULL, 
	valid BOOLEAN NOT NULL, 
	body TEXT NOT NULL, 
	CONSTRAINT pk_artifacts PRIMARY KEY (debate, name), 
	CONSTRAINT fk_artifacts_debate FOREIGN KEY(debate) REFERENCES debates (id)
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
INSERT INTO "ballots" VALUES('01M81K0JS0D8SV0WVME70B0P7X','jury/oak','rehearsal/oak',1,'{"juror":"rehearsal/oak","family":"oak","order":["A","B"],"names":{"A":"Alder","B":"Rowan"},"audit":false,"valid":true,"problem":"","repaired":false,"contradictory":false,"scores":null,"verdict":"A","confidence":null,"reasons":"","raw":"","signal":null,"weight":null,"pos":null,"sd":null,"prompt_hash":"","model":"","usage":{"tokens_in":null,"tokens_out":null,"tokens_cached":null,"tokens_reasoning":null},"cost":null,"cost_origin":"","latency":null}');
INSERT INTO "ballots" VALUES('01M81K0JT5N66S4XMEWK2CWE8J','jury/oak','rehearsal/oak',1,'{"juror":"rehearsal/oak","family":"oak","order":["A","B"],"names":{"A":"Alder","B":"Rowan"},"audit":false,"valid":true,"problem":"","repaired":false,"contradictory":false,"scores":null,"verdict":"A","confidence":null,"reasons":"","raw":"","signal":null,"weight":null,"pos":null,"sd":null,"prompt_hash":"","model":"","usage":{"tokens_in":null,"tokens_out":null,"tokens_cached":null,"tokens_reasoning":null},"cost":null,"cost_origin":"","latency":null}');
INSERT INTO "ballots" VALUES('01M81K0JY3YP7P2CEEBYGV3F9F','jury/oak','rehearsal/oak',1,'{"juror":"rehearsal/oak","family":"oak","order":["A","B"],"names":{"A":"Alder","B":"Rowan"},"audit":false,"valid":true,"problem":"","repaired":false,"contradictory":false,"scores":null,"verdict":"A","confidence":null,"reasons":"","raw":"","signal":null,"weight":null,"pos":null,"sd":null,"prompt_hash":"","model":"","usage":{"tokens_in":null,"tokens_out":null,"tokens_cached":null,"tokens_reasoning":null},"cost":null,"cost_origin":"","latency":null}');
INSERT INTO "ballots" VALUES('01M81K0K099ZNV8E3GZFY898BT','jury/oak','rehearsal/oak',1,'{"juror":"rehearsal/oak","family":"oak","order":["A","B"],"names":{"A":"Alder","B":"Rowan"},"audit":false,"valid":true,"problem":"","repaired":false,"contradictory":false,"scores":null,"verdict":"A","confidence":null,"reasons":"","raw":"","signal":null,"weight":null,"pos":null,"sd":null,"prompt_hash":"","model":"","usage":{"tokens_in":null,"tokens_out":null,"tokens_cached":null,"tokens_reasoning":null},"cost":null,"cost_origin":"","latency":null}');
INSERT INTO "ballots" VALUES('01M81K0K77JAJ7XJRDRGVWAGDY','jury/oak','rehearsal/oak',1,'{"juror":"rehearsal/oak","family":"oak","order":["A","B"],"names":{"A":"Alder","B":"Rowan"},"audit":false,"valid":true,"problem":"","repaired":false,"contradictory":false,"scores":null,"verdict":"A","confidence":null,"reasons":"","raw":"","signal":null,"weight":null,"pos":null,"sd":null,"prompt_hash":"","model":"","usage":{"tokens_in":null,"tokens_out":null,"tokens_cached":null,"tokens_reasoning":null},"cost":null,"cost_origin":"","latency":null}');
INSERT INTO "ballots" VALUES('01M81K0K8RAQGTXR7BBH6MJBX7','jury/oak','rehearsal/oak',1,'{"juror":"rehearsal/oak","family":"oak","order":["A","B"],"names":{"A":"Alder","B":"Rowan"},"audit":false,"valid":true,"problem":"","repaired":false,"contradictory":false,"scores":null,"verdict":"A","confidence":null,"reasons":"","raw":"","signal":null,"weight":null,"pos":null,"sd":null,"prompt_hash":"","model":"","usage":{"tokens_in":null,"tokens_out":null,"tokens_cached":null,"tokens_reasoning":null},"cost":null,"cost_origin":"","latency":null}');
INSERT INTO "ballots" VALUES('01M81K0KCK86R0703C2ETEJ5WS','jury/oak','rehearsal/oak',1,'{"juror":"rehearsal/oak","family":"oak","order":["A","B"],"names":{"A":"Alder","B":"Rowan"},"audit":false,"valid":true,"problem":"","repaired":false,"contradictory":false,"scores":null,"verdict":"A","confidence":null,"reasons":"","raw":"","signal":null,"weight":null,"pos":null,"sd":null,"prompt_hash":"","model":"","usage":{"tokens_in":null,"tokens_out":null,"tokens_cached":null,"tokens_reasoning":null},"cost":null,"cost_origin":"","latency":null}');
INSERT INTO "ballots" VALUES('01M81K0KD6QKZ4B1R0024GA1ZN','jury/oak','rehearsal/oak',1,'{"juror":"rehearsal/oak","family":"oak","order":["A","B"],"names":{"A":"Alder","B":"Rowan"},"audit":false,"valid":true,"problem":"","repaired":false,"contradictory":false,"scores":null,"verdict":"A","confidence":null,"reasons":"","raw":"","signal":null,"weight":null,"pos":null,"sd":null,"prompt_hash":"","model":"","usage":{"tokens_in":null,"tokens_out":null,"tokens_cached":null,"tokens_reasoning":null},"cost":null,"cost_origin":"","latency":null}');
INSERT INTO "ballots" VALUES('01M81K0KE16N10J6TNKW177BZA','jury/oak','rehearsal/oak',1,'{"juror":"rehearsal/oak","family":"oak","order":["A","B"],"names":{"A":"Alder","B":"Rowan"},"audit":false,"valid":true,"problem":"","repaired":false,"contradictory":false,"scores":null,"verdict":"A","confidence":null,"reasons":"","raw":"","signal":null,"weight":null,"pos":null,"sd":null,"prompt_hash":"","model":"","usage":{"tokens_in":null,"tokens_out":null,"tokens_cached":null,"tokens_reasoning":null},"cost":null,"cost_origin":"","latency":null}');
INSERT INTO "ballots" VALUES('01M81K0KEWBM1GV6QTHQFB94TC','jury/oak','rehearsal/oak',1,'{"juror":"rehearsal/oak","family":"oak","order":["A","B"],"names":{"A":"Alder","B":"Rowan"},"audit":false,"valid":true,"problem":"","repaired":false,"contradictory":false,"scores":null,"verdict":"A","confidence":null,"reasons":"","raw":"","signal":null,"weight":null,"pos":null,"sd":null,"prompt_hash":"","model":"","usage":{"tokens_in":null,"tokens_out":null,"tokens_cached":null,"tokens_reasoning":null},"cost":null,"cost_origin":"","latency":null}');
INSERT INTO "ballots" VALUES('01M81K0KGA01P67MGSJPDD05WH','jury/oak','rehearsal/oak',1,'{"juror":"rehearsal/oak","family":"oak","order":["A","B"],"names":{"A":"Alder","B":"Rowan"},"audit":false,"valid":true,"problem":"","repaired":false,"contradictory":false,"scores":null,"verdict":"A","confidence":null,"reasons":"","raw":"","signal":null,"weight":null,"pos":null,"sd":null,"prompt_hash":"","model":"","usage":{"tokens_in":null,"tokens_out":null,"tokens_cached":null,"tokens_reasoning":null},"cost":null,"cost_origin":"","latency":null}');
INSERT INTO "ballots" VALUES('01M81K0KJ2CA9A11KCB5FG5N4M','jury/oak','rehearsal/oak',1,'{"juror":"rehearsal/oak","family":"oak","order":["A","B"],"names":{"A":"Alder","B":"Rowan"},"audit":false,"valid":true,"problem":"","repaired":false,"contradictory":false,"scores":null,"verdict":"A","confidence":null,"reasons":"","raw":"","signal":null,"weight":null,"pos":null,"sd":null,"prompt_hash":"","model":"","usage":{"tokens_in":null,"tokens_out":null,"tokens_cached":null,"tokens_reasoning":null},"cost":null,"cost_origin":"","latency":null}');
INSERT INTO "ballots" VALUES('01M81K0KK43C00D88GJCBY3W3K','jury/oak','rehearsal/oak',1,'{"juror":"rehearsal/oak","family":"oak","order":["A","B"],"names":{"A":"Alder","B":"Rowan"},"audit":false,"valid":true,"problem":"","repaired":false,"contradictory":false,"scores":null,"verdict":"A","confidence":null,"reasons":"","raw":"","signal":null,"weight":null,"pos":null,"sd":null,"prompt_hash":"","model":"","usage":{"tokens_in":null,"tokens_out":null,"tokens_cached":null,"tokens_reasoning":null},"cost":null,"cost_origin":"","latency":null}');
INSERT INTO "ballots" VALUES('01M81K0KM6RXWAAQ8FKGEMYR4C','jury/oak','rehearsal/oak',1,'{"juror":"rehearsal/oak","family":"oak","order":["A","B"],"names":{"A":"Alder","B":"Rowan"},"audit":false,"valid":true,"problem":"","repaired":false,"contradictory":false,"scores":null,"verdict":"A","confidence":null,"reasons":"","raw":"","signal":null,"weight":null,"pos":null,"sd":null,"prompt_hash":"","model":"","usage":{"tokens_in":null,"tokens_out":null,"tokens_cached":null,"tokens_reasoning":null},"cost":null,"cost_origin":"","latency":null}');
INSERT INTO "ballots" VALUES('01M81K0KNWDN7R5W0RJ8AJRHC3','jury/oak','rehearsal/oak',1,'{"juror":"rehearsal/oak","family":"oak","order":["A","B"],"names":{"A":"Alder","B":"Rowan"},"audit":false,"valid":true,"problem":"","repaired":false,"contradictory":false,"scores":null,"verdict":"A","confidence":null,"reasons":"","raw":"","signal":null,"weight":null,"pos":null,"sd":null,"prompt_hash":"","model":"","usage":{"tokens_in":null,"tokens_out":null,"tokens_cached":null,"tokens_reasoning":null},"cost":null,"cost_origin":"","latency":null}');
INSERT INTO "ballots" VALUES('01M81K0KQYHZXS9QZSPG84CQ8V','jury/oak','rehearsal/oak',1,'{"juror":"rehearsal/oak","family":"oak","order":["A","B"],"names":{"A":"Alder","B":"Rowan"},"audit":false,"valid":true,"problem":"","repaired":false,"contradictory":false,"scores":null,"verdict":"A","confidence":null,"reasons":"","raw":"","signal":null,"weight":null,"pos":null,"sd":null,"prompt_hash":"","model":"","usage":{"tokens_in":null,"tokens_out":null,"tokens_cached":null,"tokens_reasoning":null},"cost":null,"cost_origin":"","latency":null}');
INSERT INTO "ballots" VALUES('01M81K0KS8KYH02WAHSS8BC6DF','jury/oak','rehearsal/oak',1,'{"juror":"rehearsal/oak","family":"oak","order":["A","B"],"names":{"A":"Alder","B":"Rowan"},"audit":false,"valid":true,"problem":"","repaired":false,"contradictory":false,"scores":null,"verdict":"A","confidence":null,"reasons":"","raw":"","signal":null,"weight":null,"pos":null,"sd":null,"prompt_hash":"","model":"","usage":{"tokens_in":null,"tokens_out":null,"tokens_cached":null,"tokens_reasoning":null},"cost":null,"cost_origin":"","latency":null}');
INSERT INTO "ballots" VALUES('01M81K0KVKR7ATDE3CBSW8A02T','jury/oak','rehearsal/oak',1,'{"juror":"rehearsal/oak","family":"oak","order":["A","B"],"names":{"A":"Alder","B":"Rowan"},"audit":false,"valid":true,"problem":"","repaired":false,"contradictory":false,"scores":null,"verdict":"A","confidence":null,"reasons":"","raw":"","signal":null,"weight":null,"pos":null,"sd":null,"prompt_hash":"","model":"","usage":{"tokens_in":null,"tokens_out":null,"tokens_cached":null,"tokens_reasoning":null},"cost":null,"cost_origin":"","latency":null}');
INSERT INTO "ballots" VALUES('01M81K0KVKR7ATDE3CBSW8A02V','jury/oak','rehearsal/oak',1,'{"juror":"rehearsal/oak","family":"oak","order":["A","B"],"names":{"A":"Alder","B":"Rowan"},"audit":false,"valid":true,"problem":"","repaired":false,"contradictory":false,"scores":null,"verdict":"A","confidence":null,"reasons":"","raw":"","signal":null,"weight":null,"pos":null,"sd":null,"prompt_hash":"","model":"","usage":{"tokens_in":null,"tokens_out":null,"tokens_cached":null,"tokens_reasoning":null},"cost":null,"cost_origin":"","latency":null}');
INSERT INTO "ballots" VALUES('01M81K0KW8Z7JZQKM01FJM0P2X','jury/oak','rehearsal/oak',1,'{"juror":"rehearsal/oak","family":"oak","order":["A","B"],"names":{"A":"Alder","B":"Rowan"},"audit":false,"valid":true,"problem":"","repaired":false,"contradictory":false,"scores":null,"verdict":"A","confidence":null,"reasons":"","raw":"","signal":null,"weight":null,"pos":null,"sd":null,"prompt_hash":"","model":"","usage":{"tokens_in":null,"tokens_out":null,"tokens_cached":null,"tokens_reasoning":null},"cost":null,"cost_origin":"","latency":null}');
INSERT INTO "ballots" VALUES('01M81K0KWNVRQY5YWQGTKT1CE2','jury/oak','rehearsal/oak',1,'{"juror":"rehearsal/oak","family":"oak","order":["A","B"],"names":{"A":"Alder","B":"Rowan"},"audit":false,"valid":true,"problem":"","repaired":false,"contradictory":false,"scores":null,"verdict":"A","confidence":null,"reasons":"","raw":"","signal":null,"weight":null,"pos":null,"sd":null,"prompt_hash":"","model":"","usage":{"tokens_in":null,"tokens_out":null,"tokens_cached":null,"tokens_reasoning":null},"cost":null,"cost_origin":"","latency":null}');
INSERT INTO "ballots" VALUES('01M81K0KWNVRQY5YWQGTKT1CE3','jury/oak','rehearsal/oak',1,'{"juror":"rehearsal/oak","family":"oak","order":["A","B"],"names":{"A":"Alder","B":"Rowan"},"audit":false,"valid":true,"problem":"","repaired":false,"contradictory":false,"scores":null,"verdict":"A","confidence":null,"reasons":"","raw":"","signal":null,"weight":null,"pos":null,"sd":null,"prompt_hash":"","model":"","usage":{"tokens_in":null,"tokens_out":null,"tokens_cached":null,"tokens_reasoning":null},"cost":null,"cost_origin":"","latency":null}');
CREATE TABLE calls (
	debate VARCHAR(26) NOT NULL, 
	step VARCHAR(255) NOT NULL, 
	attempt INTEGER NOT NULL, 
	state VARCHAR(8) NOT NULL, 
	model VARCHAR(200) NOT NULL, 
	request TEXT NOT NULL, 
	prompt_hash VARCHAR(64) NOT NULL, 
	reply TEXT, 
	error TEXT NOT NULL, 
	tokens_in INTEGER, 
	tokens_out INTEGER, 
	cost FLOAT, 
	cost_max FLOAT NOT NULL, 
	latency FLOAT, 
	started_at DATETIME NOT NULL, cost_origin VARCHAR(8) DEFAULT 'unknown' NOT NULL, 
	CONSTRAINT pk_calls PRIMARY KEY (debate, step, attempt), 
	CONSTRAINT fk_calls_debate FOREIGN KEY(debate) REFERENCES debates (id)
);
CREATE TABLE communities (
	platform VARCHAR(32) NOT NULL, 
	community VARCHAR(128) NOT NULL, 
	settings TEXT NOT NULL, 
	joined_at DATETIME NOT NULL, 
	left_at DATETIME, 
	CONSTRAINT pk_communities PRIMARY KEY (platform, community)
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
	reserved_usd FLOAT NOT NULL, 
	budget_day VARCHAR(10) NOT NULL, 
	settled_usd FLOAT NOT NULL, 
	created_at DATETIME NOT NULL, 
	opened_at DATETIME, 
	stance_deadline DATETIME, 
	stance_closed_at DATETIME, 
	vote_message VARCHAR(128), 
	vote_opened_at DATETIME, 
	vote_deadline DATETIME, 
	vote_extended BOOLEAN NOT NULL, 
	closed_early BOOLEAN NOT NULL, 
	revealed_at DATETIME, 
	mirror VARCHAR(26), 
	mirror_revealed_at DATETIME, rehearsal BOOLEAN DEFAULT 0 NOT NULL, gaps INTEGER DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_debates PRIMARY KEY (id), 
	CONSTRAINT fk_debates_starter FOREIGN KEY(starter) REFERENCES people (id), 
	CONSTRAINT uq_debates_number UNIQUE (number)
);
INSERT INTO "debates" VALUES('01M81K0JQHZ9EQ7E2YRFKKV5SY',1,'memory','club','lobby',1,'running','',NULL,0,'stance','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":0,"extend":false,"stance":true,"stance_seconds":60.0,"again":false,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:00:00.002000','2026-03-01 12:10:00.003000',NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0JRF92TMC35DKYV0BPB5',2,'memory','club','lobby',1,'failed','no answer',NULL,0,'failed','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":0,"extend":false,"stance":true,"stance_seconds":60.0,"again":false,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:00:00.007000','2026-03-01 12:10:00.008000',NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0JS0D8SV0WVME70B0P7X',3,'memory','club','lobby',1,'voting','',NULL,0,'unread stances','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":0,"extend":false,"stance":true,"stance_seconds":60.0,"again":false,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:00:00.010000','2026-03-01 12:10:00.011000','2026-03-01 12:00:00.014000','m5','2026-03-01 12:00:00.015000','2026-03-01 12:30:00.015000',0,0,NULL,NULL,NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0JT5N66S4XMEWK2CWE8J',4,'memory','club','lobby',1,'voting','',NULL,0,'voting','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":0,"extend":false,"stance":true,"stance_seconds":60.0,"again":false,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:00:00.021000','2026-03-01 12:01:00.022000','2026-03-01 12:00:00.025000','m11','2026-03-01 12:00:00.030000','2026-03-01 12:30:00.030000',0,0,NULL,NULL,NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0JY3YP7P2CEEBYGV3F9F',5,'memory','club','lobby',1,'voting','',NULL,0,'few','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":3,"extend":true,"stance":false,"stance_seconds":60.0,"again":false,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:00:00.035000',NULL,NULL,'m12','2026-03-01 12:00:00.036000','2026-03-01 12:30:00.036000',0,0,NULL,NULL,NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0K099ZNV8E3GZFY898BT',6,'memory','club','lobby',1,'voting','',NULL,0,'extended','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":3,"extend":true,"stance":false,"stance_seconds":60.0,"again":false,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:00:00.038000',NULL,NULL,'m13','2026-03-01 12:00:00.039000','2026-03-01 13:01:00.044000',1,0,NULL,NULL,NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0K77JAJ7XJRDRGVWAGDY',7,'memory','club','lobby',1,'voting','',NULL,0,'enough','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":2,"extend":true,"stance":false,"stance_seconds":60.0,"again":false,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:31:00.045000',NULL,NULL,'m14','2026-03-01 12:31:00.046000','2026-03-01 13:01:00.046000',0,0,NULL,NULL,NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0K8RAQGTXR7BBH6MJBX7',8,'memory','club','lobby',1,'voting','',NULL,0,'secret','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"secret","vote_minutes":30.0,"quorum":0,"extend":false,"stance":false,"stance_seconds":60.0,"again":false,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:31:00.050000',NULL,NULL,'m15','2026-03-01 12:31:00.051000','2026-03-01 13:01:00.051000',0,0,NULL,NULL,NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0KCK86R0703C2ETEJ5WS',9,'memory','club','lobby',1,'voting','',NULL,0,'private','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"private","vote_minutes":30.0,"quorum":0,"extend":false,"stance":false,"stance_seconds":60.0,"again":false,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:31:00.059000',NULL,NULL,'m16','2026-03-01 12:31:00.060000','2026-03-01 13:01:00.060000',0,0,NULL,NULL,NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0KD6QKZ4B1R0024GA1ZN',10,'memory','club','lobby',1,'voting','',NULL,0,'accepted','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":0,"extend":false,"stance":false,"stance_seconds":60.0,"again":false,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:31:00.064000',NULL,NULL,'m17',NULL,NULL,0,0,NULL,NULL,NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0KE16N10J6TNKW177BZA',11,'memory','club','lobby',1,'voting','',NULL,0,'deleted','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":0,"extend":false,"stance":false,"stance_seconds":60.0,"again":false,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:31:00.066000',NULL,NULL,'m18','2026-03-01 12:31:00.067000','2026-03-01 13:01:00.067000',0,0,NULL,NULL,NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0KEWBM1GV6QTHQFB94TC',12,'memory','club','lobby',1,'voting','The thread of this debate was deleted.','The thread of this debate was deleted.',1,'gone','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":0,"extend":false,"stance":false,"stance_seconds":60.0,"again":false,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:31:00.070000',NULL,NULL,'m19','2026-03-01 12:31:00.071000','2026-03-01 12:31:00.000000',0,0,NULL,NULL,NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0KFVBJE4RM18SCFMM11G',13,'memory','club','lobby',1,'partial','The thread of this debate was deleted.','The thread of this debate was deleted.',1,'gone before the vote','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":0,"extend":false,"stance":false,"stance_seconds":60.0,"again":false,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:31:00.073000',NULL,NULL,NULL,NULL,'2026-03-01 12:31:00.000000',0,0,NULL,NULL,NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0KGA01P67MGSJPDD05WH',14,'memory','club','lobby',1,'closed','',NULL,0,'closed','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":0,"extend":false,"stance":false,"stance_seconds":60.0,"again":false,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:31:00.074000',NULL,NULL,'m21','2026-03-01 12:31:00.076000','2026-03-01 13:01:00.076000',0,0,'2026-03-01 12:31:00.083000',NULL,NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0KJ2CA9A11KCB5FG5N4M',15,'memory','club','lobby',1,'closed','',NULL,0,'closed unread','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":0,"extend":false,"stance":false,"stance_seconds":60.0,"again":false,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:31:00.084000',NULL,NULL,'m23','2026-03-01 12:31:00.086000','2026-03-01 13:01:00.086000',0,0,'2026-03-01 12:31:00.093000',NULL,NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0KK43C00D88GJCBY3W3K',16,'memory','club','lobby',1,'closed','',NULL,0,'closed early','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":0,"extend":false,"stance":false,"stance_seconds":60.0,"again":false,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:31:00.094000',NULL,NULL,'m25','2026-03-01 12:31:00.096000','2026-03-01 13:01:00.096000',0,1,'2026-03-01 12:31:00.102000',NULL,NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0KM6RXWAAQ8FKGEMYR4C',17,'memory','club','lobby',1,'closed','',NULL,0,'again','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":0,"extend":false,"stance":false,"stance_seconds":60.0,"again":true,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:31:00.103000',NULL,NULL,'m27','2026-03-01 12:31:00.105000','2026-03-01 13:01:00.105000',0,0,'2026-03-01 12:31:00.112000',NULL,NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0KNWDN7R5W0RJ8AJRHC3',18,'memory','club','lobby',1,'closed','',NULL,0,'again due','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":0,"extend":false,"stance":false,"stance_seconds":60.0,"again":true,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:31:00.113000',NULL,NULL,'m29','2026-03-01 12:31:00.115000','2026-03-01 13:01:00.115000',0,0,'2026-03-01 12:31:00.122000',NULL,NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0KQYHZXS9QZSPG84CQ8V',19,'memory','club','lobby',1,'closed','',NULL,0,'again over','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":0,"extend":false,"stance":false,"stance_seconds":60.0,"again":true,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:31:00.123000',NULL,NULL,'m31','2026-03-01 12:31:00.125000','2026-03-01 13:01:00.125000',0,0,'2026-03-01 12:31:00.132000',NULL,NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0KS8KYH02WAHSS8BC6DF',20,'memory','club','lobby',1,'closed','',NULL,0,'again unread','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":0,"extend":false,"stance":false,"stance_seconds":60.0,"again":true,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:31:00.133000',NULL,NULL,'m33','2026-03-01 12:31:00.135000','2026-03-01 13:01:00.135000',0,0,'2026-03-01 12:31:00.142000',NULL,NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0KVKR7ATDE3CBSW8A02T',21,'memory','club','lobby',NULL,'voting','',NULL,0,'both a','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":0,"extend":false,"stance":false,"stance_seconds":60.0,"again":false,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:31:00.154000',NULL,NULL,'m38','2026-03-01 12:31:00.155000','2026-03-01 13:11:00.160000',0,0,NULL,'01M81K0KVKR7ATDE3CBSW8A02V',NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0KVKR7ATDE3CBSW8A02V',22,'memory','club','lobby',NULL,'voting','',NULL,0,'both b','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":0,"extend":false,"stance":false,"stance_seconds":60.0,"again":false,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":"01M81K0KVKR7ATDE3CBSW8A02T","replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:31:00.159000',NULL,NULL,'m39','2026-03-01 12:31:00.160000','2026-03-01 13:11:00.160000',0,0,NULL,'01M81K0KVKR7ATDE3CBSW8A02T',NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0KW8Z7JZQKM01FJM0P2X',23,'memory','club','lobby',NULL,'voting','',NULL,0,'first','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":0,"extend":false,"stance":false,"stance_seconds":60.0,"again":false,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:31:00.164000',NULL,NULL,'m40','2026-03-01 12:31:00.165000','2026-03-01 13:01:00.165000',0,0,NULL,'01M81K0KW8Z7JZQKM01FJM0P2Y',NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0KW8Z7JZQKM01FJM0P2Y',24,'memory','club','lobby',NULL,'running','',NULL,0,'waited for','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":0,"extend":false,"stance":false,"stance_seconds":60.0,"again":false,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":"01M81K0KW8Z7JZQKM01FJM0P2X","replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:31:00.169000',NULL,NULL,NULL,NULL,NULL,0,0,NULL,'01M81K0KW8Z7JZQKM01FJM0P2X',NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0KWNVRQY5YWQGTKT1CE2',25,'memory','club','lobby',NULL,'voting','',NULL,0,'kept','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":0,"extend":false,"stance":false,"stance_seconds":60.0,"again":false,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":null,"replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:31:00.170000',NULL,NULL,'m41','2026-03-01 12:31:00.171000','2026-03-01 13:11:00.176000',0,0,NULL,'01M81K0KWNVRQY5YWQGTKT1CE3',NULL,1,0);
INSERT INTO "debates" VALUES('01M81K0KWNVRQY5YWQGTKT1CE3',26,'memory','club','lobby',NULL,'voting','The thread of this debate was deleted.','The thread of this debate was deleted.',1,'lost','classic','en','{"request":{"topic":"Tea or coffee","conditions":"","format":"classic","language":"en","sides":{"A":{"backend":"rehearsal","name":"maple","family":"maple"},"B":{"backend":"rehearsal","name":"birch","family":"birch"}},"drawn":[],"seats":{},"judges":[],"options":{},"rounds":1,"turn_order":"sequential","blind":true,"scores":"after_vote","ballot":"open","vote_minutes":30.0,"quorum":0,"extend":false,"stance":false,"stance_seconds":60.0,"again":false,"again_minutes":1440.0,"broadcast":false},"format_version":1,"templates":"digest","panel":{"roster":[{"backend":"rehearsal","name":"maple","family":"maple"}],"recused":[],"recusal_failed":false,"history":{},"first_order":"AB","slope":0.9,"correlation":null,"mode":"adaptive","audit":false,"rubric":"panel","blind":true},"names":{"A":"Alder","B":"Rowan"},"sampling":{"debater":{"temperature":0.7,"max_tokens":100}},"limits":{"opening":500.0},"prices":{},"seed":7,"ordinal":1,"cap_usd":null,"reserved_usd":0.0,"chars_per_word":1.5,"reply_chars":null,"mirror_of":"01M81K0KWNVRQY5YWQGTKT1CE2","replaced":[]}',0.0,'2026-03-01',0.0,'2026-03-01 12:00:00.000000','2026-03-01 12:31:00.175000',NULL,NULL,'m42','2026-03-01 12:31:00.176000','2026-03-01 13:11:00.176000',0,0,NULL,'01M81K0KWNVRQY5YWQGTKT1CE2',NULL,1,0);
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
INSERT INTO "interventions" VALUES(1,'01M81K0KE16N10J6TNKW177BZA','vote','','deleted',NULL,'2026-03-01 12:31:00.069000');
CREATE TABLE leases (
	name VARCHAR(80) NOT NULL, 
	epoch INTEGER NOT NULL, 
	holder VARCHAR(64) NOT NULL, 
	until DATETIME NOT NULL, 
	CONSTRAINT pk_leases PRIMARY KEY (name)
);
INSERT INTO "leases" VALUES('debate/01M81K0JQHZ9EQ7E2YRFKKV5SY',1,'','2026-11-22 12:17:05.317790');
INSERT INTO "leases" VALUES('debate/01M81K0JRF92TMC35DKYV0BPB5',1,'','2026-11-22 12:17:05.336139');
INSERT INTO "leases" VALUES('debate/01M81K0JS0D8SV0WVME70B0P7X',1,'','2026-11-22 12:17:05.372633');
INSERT INTO "leases" VALUES('debate/01M81K0JT5N66S4XMEWK2CWE8J',1,'','2026-11-22 12:17:05.494374');
INSERT INTO "leases" VALUES('debate/01M81K0JY3YP7P2CEEBYGV3F9F',1,'','2026-11-22 12:17:05.568703');
INSERT INTO "leases" VALUES('debate/01M81K0K099ZNV8E3GZFY898BT',2,'','2026-11-22 12:17:05.784097');
INSERT INTO "leases" VALUES('debate/01M81K0K77JAJ7XJRDRGVWAGDY',1,'','2026-11-22 12:17:05.836218');
INSERT INTO "leases" VALUES('debate/01M81K0K8RAQGTXR7BBH6MJBX7',1,'','2026-11-22 12:17:05.962201');
INSERT INTO "leases" VALUES('debate/01M81K0KCK86R0703C2ETEJ5WS',1,'','2026-11-22 12:17:05.981370');
INSERT INTO "leases" VALUES('debate/01M81K0KD6QKZ4B1R0024GA1ZN',1,'','2026-11-22 12:17:06.007971');
INSERT INTO "leases" VALUES('debate/01M81K0KE16N10J6TNKW177BZA',1,'','2026-11-22 12:17:06.033532');
INSERT INTO "leases" VALUES('debate/01M81K0KEWBM1GV6QTHQFB94TC',1,'','2026-11-22 12:17:06.064260');
INSERT INTO "leases" VALUES('debate/01M81K0KFVBJE4RM18SCFMM11G',1,'','2026-11-22 12:17:06.081807');
INSERT INTO "leases" VALUES('debate/01M81K0KGA01P67MGSJPDD05WH',2,'','2026-11-22 12:17:06.134011');
INSERT INTO "leases" VALUES('test/01M81K0KGA01P67MGSJPDD05WH',1,'','2026-11-22 12:17:06.138114');
INSERT INTO "leases" VALUES('debate/01M81K0KJ2CA9A11KCB5FG5N4M',2,'','2026-11-22 12:17:06.166603');
INSERT INTO "leases" VALUES('test/01M81K0KJ2CA9A11KCB5FG5N4M',1,'','2026-11-22 12:17:06.171580');
INSERT INTO "leases" VALUES('debate/01M81K0KK43C00D88GJCBY3W3K',2,'','2026-11-22 12:17:06.198147');
INSERT INTO "leases" VALUES('test/01M81K0KK43C00D88GJCBY3W3K',1,'','2026-11-22 12:17:06.203718');
INSERT INTO "leases" VALUES('debate/01M81K0KM6RXWAAQ8FKGEMYR4C',3,'','2026-11-22 12:17:06.426923');
INSERT INTO "leases" VALUES('test/01M81K0KM6RXWAAQ8FKGEMYR4C',1,'','2026-11-22 12:17:06.258123');
INSERT INTO "leases" VALUES('debate/01M81K0KNWDN7R5W0RJ8AJRHC3',3,'','2026-11-22 12:17:06.430223');
INSERT INTO "leases" VALUES('test/01M81K0KNWDN7R5W0RJ8AJRHC3',1,'','2026-11-22 12:17:06.325041');
INSERT INTO "leases" VALUES('debate/01M81K0KQYHZXS9QZSPG84CQ8V',4,'','2026-11-22 12:17:06.435985');
INSERT INTO "leases" VALUES('test/01M81K0KQYHZXS9QZSPG84CQ8V',1,'','2026-11-22 12:17:06.367618');
INSERT INTO "leases" VALUES('debate/01M81K0KS8KYH02WAHSS8BC6DF',4,'','2026-11-22 12:17:06.441089');
INSERT INTO "leases" VALUES('test/01M81K0KS8KYH02WAHSS8BC6DF',1,'','2026-11-22 12:17:06.424595');
INSERT INTO "leases" VALUES('debate/01M81K0KVKR7ATDE3CBSW8A02T',1,'','2026-11-22 12:17:06.453972');
INSERT INTO "leases" VALUES('debate/01M81K0KVKR7ATDE3CBSW8A02V',1,'','2026-11-22 12:17:06.463554');
INSERT INTO "leases" VALUES('debate/01M81K0KW8Z7JZQKM01FJM0P2X',1,'','2026-11-22 12:17:06.475117');
INSERT INTO "leases" VALUES('debate/01M81K0KW8Z7JZQKM01FJM0P2Y',1,'','2026-11-22 12:17:06.477357');
INSERT INTO "leases" VALUES('debate/01M81K0KWNVRQY5YWQGTKT1CE2',1,'','2026-11-22 12:17:06.485153');
INSERT INTO "leases" VALUES('debate/01M81K0KWNVRQY5YWQGTKT1CE3',1,'','2026-11-22 12:17:06.495091');
INSERT INTO "leases" VALUES('gone/01M81K0KWNVRQY5YWQGTKT1CE3',1,'','2026-11-22 12:17:06.496431');
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
	CONSTRAINT pk_outbox PRIMARY KEY (id), 
	CONSTRAINT fk_outbox_debate FOREIGN KEY(debate) REFERENCES debates (id), 
	CONSTRAINT uq_outbox_debate_key UNIQUE (debate, "key")
);
INSERT INTO "outbox" VALUES(1,'01M81K0JT5N66S4XMEWK2CWE8J','memory',1,'turn/1','turn',NULL,'{"kind":"turn","side":"A","seat":"A","round":"round1","number":1,"total":8,"text":"Tea wakes gently.","words":3,"limit":500,"violations":[],"seconds":null,"seconds_limit":null}',NULL,'["m7","m8"]','sent','',NULL);
INSERT INTO "outbox" VALUES(2,'01M81K0JT5N66S4XMEWK2CWE8J','memory',2,'turn/2','turn',NULL,'{"kind":"turn","side":"A","seat":"A","round":"round2","number":2,"total":8,"text":"Tea wakes gently.","words":3,"limit":500,"violations":[],"seconds":null,"seconds_limit":null}',NULL,'["m9"]','sent','',NULL);
INSERT INTO "outbox" VALUES(3,'01M81K0K099ZNV8E3GZFY898BT','memory',1,'vote/extended','notice',NULL,'{"kind":"notice","level":"info","text":"Fewer than 3 votes count so far, so the vote stays open for another 30 minutes."}',NULL,'[]','pending','',NULL);
INSERT INTO "outbox" VALUES(4,'01M81K0KGA01P67MGSJPDD05WH','memory',1,'turn/1','turn',NULL,'{"kind":"turn","side":"A","seat":"A","round":"round1","number":1,"total":8,"text":"Tea wakes gently.","words":3,"limit":500,"violations":[],"seconds":null,"seconds_limit":null}',NULL,'["m20"]','sent','',NULL);
INSERT INTO "outbox" VALUES(5,'01M81K0KGA01P67MGSJPDD05WH','memory',2,'vote/closed','vote_closed','vote','{"kind":"vote_closed","options":["A","B","tie","weak"],"votes":3,"early":false}',NULL,'[]','sent','',NULL);
INSERT INTO "outbox" VALUES(6,'01M81K0KGA01P67MGSJPDD05WH','memory',3,'reveal','reveal',NULL,'{"kind":"reveal","topic":"Tea or coffee","models":{"A":"rehearsal/maple","B":"rehearsal/birch"},"drawn":[],"tally":{"counts":{"A":2,"B":0,"tie":0,"weak":1},"gold":{"A":2,"B":0,"tie":0,"weak":1},"quorum_met":true,"winner":"A","share":1.0,"low":0.3423802275066532,"high":1.0},"verdict":{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true},"jurors":[{"juror":"rehearsal/oak","verdict":"A","order":["A","B"],"problem":"","contradictory":false}],"agree":true,"usd":0.0,"calls":0,"persuasion":null,"seats":{},"judges":[],"broadcast":false,"aside":"","rehearsal":"speakers","replaced":[],"gaps":0,"unread":false}',NULL,'[]','sent','',NULL);
INSERT INTO "outbox" VALUES(7,'01M81K0KJ2CA9A11KCB5FG5N4M','memory',1,'turn/1','turn',NULL,'{"kind":"turn","side":"A","seat":"A","round":"round1","number":1,"total":8,"text":"Tea wakes gently.","words":3,"limit":500,"violations":[],"seconds":null,"seconds_limit":null}',NULL,'["m22"]','sent','',NULL);
INSERT INTO "outbox" VALUES(8,'01M81K0KJ2CA9A11KCB5FG5N4M','memory',2,'vote/closed','vote_closed','vote','{"kind":"vote_closed","options":["A","B","tie","weak"],"votes":3,"early":false}',NULL,'[]','sent','',NULL);
INSERT INTO "outbox" VALUES(9,'01M81K0KJ2CA9A11KCB5FG5N4M','memory',3,'reveal','reveal',NULL,'{"kind":"reveal","topic":"Tea or coffee","models":{"A":"rehearsal/maple","B":"rehearsal/birch"},"drawn":[],"tally":{"counts":{"A":2,"B":0,"tie":0,"weak":1},"gold":{"A":0,"B":0,"tie":0,"weak":0},"quorum_met":true,"winner":null,"share":null,"low":null,"high":null},"verdict":{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true},"jurors":[{"juror":"rehearsal/oak","verdict":"A","order":["A","B"],"problem":"","contradictory":false}],"agree":null,"usd":0.0,"calls":0,"persuasion":null,"seats":{},"judges":[],"broadcast":false,"aside":"","rehearsal":"speakers","replaced":[],"gaps":0,"unread":true}',NULL,'[]','sent','',NULL);
INSERT INTO "outbox" VALUES(10,'01M81K0KK43C00D88GJCBY3W3K','memory',1,'turn/1','turn',NULL,'{"kind":"turn","side":"A","seat":"A","round":"round1","number":1,"total":8,"text":"Tea wakes gently.","words":3,"limit":500,"violations":[],"seconds":null,"seconds_limit":null}',NULL,'["m24"]','sent','',NULL);
INSERT INTO "outbox" VALUES(11,'01M81K0KK43C00D88GJCBY3W3K','memory',2,'vote/closed','vote_closed','vote','{"kind":"vote_closed","options":["A","B","tie","weak"],"votes":3,"early":true}',NULL,'[]','sent','',NULL);
INSERT INTO "outbox" VALUES(12,'01M81K0KK43C00D88GJCBY3W3K','memory',3,'reveal','reveal',NULL,'{"kind":"reveal","topic":"Tea or coffee","models":{"A":"rehearsal/maple","B":"rehearsal/birch"},"drawn":[],"tally":{"counts":{"A":2,"B":0,"tie":0,"weak":1},"gold":{"A":2,"B":0,"tie":0,"weak":1},"quorum_met":true,"winner":"A","share":1.0,"low":0.3423802275066532,"high":1.0},"verdict":{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true},"jurors":[{"juror":"rehearsal/oak","verdict":"A","order":["A","B"],"problem":"","contradictory":false}],"agree":true,"usd":0.0,"calls":0,"persuasion":null,"seats":{},"judges":[],"broadcast":false,"aside":"","rehearsal":"speakers","replaced":[],"gaps":0,"unread":false}',NULL,'[]','sent','',NULL);
INSERT INTO "outbox" VALUES(13,'01M81K0KM6RXWAAQ8FKGEMYR4C','memory',1,'turn/1','turn',NULL,'{"kind":"turn","side":"A","seat":"A","round":"round1","number":1,"total":8,"text":"Tea wakes gently.","words":3,"limit":500,"violations":[],"seconds":null,"seconds_limit":null}',NULL,'["m26"]','sent','',NULL);
INSERT INTO "outbox" VALUES(14,'01M81K0KM6RXWAAQ8FKGEMYR4C','memory',2,'vote/closed','vote_closed','vote','{"kind":"vote_closed","options":["A","B","tie","weak"],"votes":3,"early":false}',NULL,'[]','sent','',NULL);
INSERT INTO "outbox" VALUES(15,'01M81K0KM6RXWAAQ8FKGEMYR4C','memory',3,'reveal','reveal',NULL,'{"kind":"reveal","topic":"Tea or coffee","models":{"A":"rehearsal/maple","B":"rehearsal/birch"},"drawn":[],"tally":{"counts":{"A":2,"B":0,"tie":0,"weak":1},"gold":{"A":2,"B":0,"tie":0,"weak":1},"quorum_met":true,"winner":"A","share":1.0,"low":0.3423802275066532,"high":1.0},"verdict":{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true},"jurors":[{"juror":"rehearsal/oak","verdict":"A","order":["A","B"],"problem":"","contradictory":false}],"agree":true,"usd":0.0,"calls":0,"persuasion":null,"seats":{},"judges":[],"broadcast":false,"aside":"","rehearsal":"speakers","replaced":[],"gaps":0,"unread":false}',NULL,'[]','sent','',NULL);
INSERT INTO "outbox" VALUES(16,'01M81K0KM6RXWAAQ8FKGEMYR4C','memory',4,'again','again_invite',NULL,'{"kind":"again_invite","options":["A","B","tie","weak"],"minutes":1440.0,"ballot":"open"}',NULL,'[]','sent','',NULL);
INSERT INTO "outbox" VALUES(17,'01M81K0KNWDN7R5W0RJ8AJRHC3','memory',1,'turn/1','turn',NULL,'{"kind":"turn","side":"A","seat":"A","round":"round1","number":1,"total":8,"text":"Tea wakes gently.","words":3,"limit":500,"violations":[],"seconds":null,"seconds_limit":null}',NULL,'["m28"]','sent','',NULL);
INSERT INTO "outbox" VALUES(18,'01M81K0KNWDN7R5W0RJ8AJRHC3','memory',2,'vote/closed','vote_closed','vote','{"kind":"vote_closed","options":["A","B","tie","weak"],"votes":3,"early":false}',NULL,'[]','sent','',NULL);
INSERT INTO "outbox" VALUES(19,'01M81K0KNWDN7R5W0RJ8AJRHC3','memory',3,'reveal','reveal',NULL,'{"kind":"reveal","topic":"Tea or coffee","models":{"A":"rehearsal/maple","B":"rehearsal/birch"},"drawn":[],"tally":{"counts":{"A":2,"B":0,"tie":0,"weak":1},"gold":{"A":2,"B":0,"tie":0,"weak":1},"quorum_met":true,"winner":"A","share":1.0,"low":0.3423802275066532,"high":1.0},"verdict":{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true},"jurors":[{"juror":"rehearsal/oak","verdict":"A","order":["A","B"],"problem":"","contradictory":false}],"agree":true,"usd":0.0,"calls":0,"persuasion":null,"seats":{},"judges":[],"broadcast":false,"aside":"","rehearsal":"speakers","replaced":[],"gaps":0,"unread":false}',NULL,'[]','sent','',NULL);
INSERT INTO "outbox" VALUES(20,'01M81K0KNWDN7R5W0RJ8AJRHC3','memory',4,'again','again_invite',NULL,'{"kind":"again_invite","options":["A","B","tie","weak"],"minutes":1440.0,"ballot":"open"}',NULL,'[]','sent','',NULL);
INSERT INTO "outbox" VALUES(21,'01M81K0KQYHZXS9QZSPG84CQ8V','memory',1,'turn/1','turn',NULL,'{"kind":"turn","side":"A","seat":"A","round":"round1","number":1,"total":8,"text":"Tea wakes gently.","words":3,"limit":500,"violations":[],"seconds":null,"seconds_limit":null}',NULL,'["m30"]','sent','',NULL);
INSERT INTO "outbox" VALUES(22,'01M81K0KQYHZXS9QZSPG84CQ8V','memory',2,'vote/closed','vote_closed','vote','{"kind":"vote_closed","options":["A","B","tie","weak"],"votes":3,"early":false}',NULL,'[]','sent','',NULL);
INSERT INTO "outbox" VALUES(23,'01M81K0KQYHZXS9QZSPG84CQ8V','memory',3,'reveal','reveal',NULL,'{"kind":"reveal","topic":"Tea or coffee","models":{"A":"rehearsal/maple","B":"rehearsal/birch"},"drawn":[],"tally":{"counts":{"A":2,"B":0,"tie":0,"weak":1},"gold":{"A":2,"B":0,"tie":0,"weak":1},"quorum_met":true,"winner":"A","share":1.0,"low":0.3423802275066532,"high":1.0},"verdict":{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true},"jurors":[{"juror":"rehearsal/oak","verdict":"A","order":["A","B"],"problem":"","contradictory":false}],"agree":true,"usd":0.0,"calls":0,"persuasion":null,"seats":{},"judges":[],"broadcast":false,"aside":"","rehearsal":"speakers","replaced":[],"gaps":0,"unread":false}',NULL,'[]','sent','',NULL);
INSERT INTO "outbox" VALUES(24,'01M81K0KQYHZXS9QZSPG84CQ8V','memory',4,'again','again_invite',NULL,'{"kind":"again_invite","options":["A","B","tie","weak"],"minutes":1440.0,"ballot":"open"}',NULL,'[]','sent','',NULL);
INSERT INTO "outbox" VALUES(25,'01M81K0KS8KYH02WAHSS8BC6DF','memory',1,'turn/1','turn',NULL,'{"kind":"turn","side":"A","seat":"A","round":"round1","number":1,"total":8,"text":"Tea wakes gently.","words":3,"limit":500,"violations":[],"seconds":null,"seconds_limit":null}',NULL,'["m32"]','sent','',NULL);
INSERT INTO "outbox" VALUES(26,'01M81K0KS8KYH02WAHSS8BC6DF','memory',2,'vote/closed','vote_closed','vote','{"kind":"vote_closed","options":["A","B","tie","weak"],"votes":3,"early":false}',NULL,'[]','sent','',NULL);
INSERT INTO "outbox" VALUES(27,'01M81K0KS8KYH02WAHSS8BC6DF','memory',3,'reveal','reveal',NULL,'{"kind":"reveal","topic":"Tea or coffee","models":{"A":"rehearsal/maple","B":"rehearsal/birch"},"drawn":[],"tally":{"counts":{"A":2,"B":0,"tie":0,"weak":1},"gold":{"A":2,"B":0,"tie":0,"weak":1},"quorum_met":true,"winner":"A","share":1.0,"low":0.3423802275066532,"high":1.0},"verdict":{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true},"jurors":[{"juror":"rehearsal/oak","verdict":"A","order":["A","B"],"problem":"","contradictory":false}],"agree":true,"usd":0.0,"calls":0,"persuasion":null,"seats":{},"judges":[],"broadcast":false,"aside":"","rehearsal":"speakers","replaced":[],"gaps":0,"unread":false}',NULL,'[]','sent','',NULL);
INSERT INTO "outbox" VALUES(28,'01M81K0KS8KYH02WAHSS8BC6DF','memory',4,'again','again_invite',NULL,'{"kind":"again_invite","options":["A","B","tie","weak"],"minutes":1440.0,"ballot":"open"}',NULL,'[]','sent','',NULL);
CREATE TABLE people (
	id INTEGER NOT NULL, 
	platform VARCHAR(32) NOT NULL, 
	user VARCHAR(128), 
	opted_out BOOLEAN NOT NULL, 
	since DATETIME, 
	CONSTRAINT pk_people PRIMARY KEY (id), 
	CONSTRAINT uq_people_platform_user UNIQUE (platform, user)
);
INSERT INTO "people" VALUES(1,'memory','host',0,NULL);
INSERT INTO "people" VALUES(2,'memory','ann',0,NULL);
INSERT INTO "people" VALUES(3,'memory','bob',0,NULL);
INSERT INTO "people" VALUES(4,'memory','cem',0,NULL);
CREATE TABLE scores (
	debate VARCHAR(26) NOT NULL, 
	subject VARCHAR(255) NOT NULL, 
	side VARCHAR(8) NOT NULL, 
	criterion VARCHAR(32) NOT NULL, 
	value FLOAT NOT NULL, 
	original FLOAT, 
	CONSTRAINT pk_scores PRIMARY KEY (debate, subject, side, criterion), 
	CONSTRAINT fk_scores_debate FOREIGN KEY(debate) REFERENCES debates (id)
);
CREATE TABLE silences (
	number INTEGER NOT NULL, 
	platform VARCHAR(32) NOT NULL, 
	ended_at DATETIME NOT NULL, 
	CONSTRAINT pk_silences PRIMARY KEY (number)
);
INSERT INTO "silences" VALUES(1,'memory','2026-03-01 12:00:00.001000');
CREATE TABLE targets (
	platform VARCHAR(32) NOT NULL, 
	place VARCHAR(128) NOT NULL, 
	message VARCHAR(128) NOT NULL, 
	debate VARCHAR(26) NOT NULL, 
	question VARCHAR(16) NOT NULL, 
	step VARCHAR(255) NOT NULL, 
	ballot VARCHAR(8) NOT NULL, 
	options VARCHAR(64) NOT NULL, 
	deadline DATETIME, 
	closed_at DATETIME, unread BOOLEAN, read_at DATETIME, 
	CONSTRAINT pk_targets PRIMARY KEY (platform, place, message), 
	CONSTRAINT fk_targets_debate FOREIGN KEY(debate) REFERENCES debates (id)
);
INSERT INTO "targets" VALUES('memory','stance','m1','01M81K0JQHZ9EQ7E2YRFKKV5SY','stance_before','','open','up down unsure',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','failed','m2','01M81K0JRF92TMC35DKYV0BPB5','stance_before','','open','up down unsure',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','unread stances','m3','01M81K0JS0D8SV0WVME70B0P7X','stance_before','','open','up down unsure',NULL,'2026-03-01 12:00:00.014000',1,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','unread stances','m4','01M81K0JS0D8SV0WVME70B0P7X','stance_after','','open','up down unsure',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','unread stances','m5','01M81K0JS0D8SV0WVME70B0P7X','vote','','open','A B tie weak',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','voting','m6','01M81K0JT5N66S4XMEWK2CWE8J','stance_before','','open','up down unsure',NULL,'2026-03-01 12:00:00.025000',0,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','voting','m7','01M81K0JT5N66S4XMEWK2CWE8J','turn','turn/1','open','up down',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','voting','m8','01M81K0JT5N66S4XMEWK2CWE8J','turn','turn/1','open','up down',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','voting','m9','01M81K0JT5N66S4XMEWK2CWE8J','turn','turn/2','open','up down',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','voting','m10','01M81K0JT5N66S4XMEWK2CWE8J','stance_after','','open','up down unsure',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','voting','m11','01M81K0JT5N66S4XMEWK2CWE8J','vote','','open','A B tie weak',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','few','m12','01M81K0JY3YP7P2CEEBYGV3F9F','vote','','open','A B tie weak',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','extended','m13','01M81K0K099ZNV8E3GZFY898BT','vote','','open','A B tie weak',NULL,NULL,NULL,'2026-03-01 12:31:00.041000');
INSERT INTO "targets" VALUES('memory','enough','m14','01M81K0K77JAJ7XJRDRGVWAGDY','vote','','open','A B tie weak',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','secret','m15','01M81K0K8RAQGTXR7BBH6MJBX7','vote','','secret','A B tie weak',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','private','m16','01M81K0KCK86R0703C2ETEJ5WS','vote','','private','A B tie weak',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','accepted','m17','01M81K0KD6QKZ4B1R0024GA1ZN','vote','','open','A B tie weak',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','deleted','m18','01M81K0KE16N10J6TNKW177BZA','vote','','open','A B tie weak',NULL,'2026-03-01 12:31:00.069000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','gone','m19','01M81K0KEWBM1GV6QTHQFB94TC','vote','','open','A B tie weak',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','closed','m20','01M81K0KGA01P67MGSJPDD05WH','turn','turn/1','open','up down',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','closed','m21','01M81K0KGA01P67MGSJPDD05WH','vote','','open','A B tie weak',NULL,NULL,NULL,'2026-03-01 12:31:00.080000');
INSERT INTO "targets" VALUES('memory','closed unread','m22','01M81K0KJ2CA9A11KCB5FG5N4M','turn','turn/1','open','up down',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','closed unread','m23','01M81K0KJ2CA9A11KCB5FG5N4M','vote','','open','A B tie weak',NULL,NULL,1,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','closed early','m24','01M81K0KK43C00D88GJCBY3W3K','turn','turn/1','open','up down',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','closed early','m25','01M81K0KK43C00D88GJCBY3W3K','vote','','open','A B tie weak',NULL,NULL,NULL,'2026-03-01 12:31:00.100000');
INSERT INTO "targets" VALUES('memory','again','m26','01M81K0KM6RXWAAQ8FKGEMYR4C','turn','turn/1','open','up down',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','again','m27','01M81K0KM6RXWAAQ8FKGEMYR4C','vote','','open','A B tie weak',NULL,NULL,NULL,'2026-03-01 12:31:00.109000');
INSERT INTO "targets" VALUES('memory','again due','m28','01M81K0KNWDN7R5W0RJ8AJRHC3','turn','turn/1','open','up down',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','again due','m29','01M81K0KNWDN7R5W0RJ8AJRHC3','vote','','open','A B tie weak',NULL,NULL,NULL,'2026-03-01 12:31:00.119000');
INSERT INTO "targets" VALUES('memory','again over','m30','01M81K0KQYHZXS9QZSPG84CQ8V','turn','turn/1','open','up down',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','again over','m31','01M81K0KQYHZXS9QZSPG84CQ8V','vote','','open','A B tie weak',NULL,NULL,NULL,'2026-03-01 12:31:00.129000');
INSERT INTO "targets" VALUES('memory','again unread','m32','01M81K0KS8KYH02WAHSS8BC6DF','turn','turn/1','open','up down',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','again unread','m33','01M81K0KS8KYH02WAHSS8BC6DF','vote','','open','A B tie weak',NULL,NULL,NULL,'2026-03-01 12:31:00.139000');
INSERT INTO "targets" VALUES('memory','again','m34','01M81K0KM6RXWAAQ8FKGEMYR4C','again','','open','A B tie weak','2026-03-02 12:31:00.143000',NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','again due','m35','01M81K0KNWDN7R5W0RJ8AJRHC3','again','','open','A B tie weak','2026-03-01 12:36:00.145000',NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','again over','m36','01M81K0KQYHZXS9QZSPG84CQ8V','again','','open','A B tie weak','2026-03-01 12:36:00.147000','2026-03-01 12:31:00.149000',0,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','again unread','m37','01M81K0KS8KYH02WAHSS8BC6DF','again','','open','A B tie weak','2026-03-01 12:36:00.150000','2026-03-01 12:31:00.152000',1,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','both a','m38','01M81K0KVKR7ATDE3CBSW8A02T','vote','','open','A B tie weak',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','both b','m39','01M81K0KVKR7ATDE3CBSW8A02V','vote','','open','A B tie weak',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','first','m40','01M81K0KW8Z7JZQKM01FJM0P2X','vote','','open','A B tie weak',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','kept','m41','01M81K0KWNVRQY5YWQGTKT1CE2','vote','','open','A B tie weak',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "targets" VALUES('memory','lost','m42','01M81K0KWNVRQY5YWQGTKT1CE3','vote','','open','A B tie weak',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
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
INSERT INTO "turns" VALUES('01M81K0JT5N66S4XMEWK2CWE8J','turn/round1/A',1,'{"step":"turn/round1/A","seat":"A","side":"A","round":"round1","number":1,"place":1,"text":"Tea wakes gently.","words":3,"limit":500,"model":"maple","violations":[]}');
INSERT INTO "turns" VALUES('01M81K0JT5N66S4XMEWK2CWE8J','turn/round2/A',2,'{"step":"turn/round2/A","seat":"A","side":"A","round":"round2","number":2,"place":1,"text":"Tea wakes gently.","words":3,"limit":500,"model":"maple","violations":[]}');
INSERT INTO "turns" VALUES('01M81K0KGA01P67MGSJPDD05WH','turn/round1/A',1,'{"step":"turn/round1/A","seat":"A","side":"A","round":"round1","number":1,"place":1,"text":"Tea wakes gently.","words":3,"limit":500,"model":"maple","violations":[]}');
INSERT INTO "turns" VALUES('01M81K0KJ2CA9A11KCB5FG5N4M','turn/round1/A',1,'{"step":"turn/round1/A","seat":"A","side":"A","round":"round1","number":1,"place":1,"text":"Tea wakes gently.","words":3,"limit":500,"model":"maple","violations":[]}');
INSERT INTO "turns" VALUES('01M81K0KK43C00D88GJCBY3W3K','turn/round1/A',1,'{"step":"turn/round1/A","seat":"A","side":"A","round":"round1","number":1,"place":1,"text":"Tea wakes gently.","words":3,"limit":500,"model":"maple","violations":[]}');
INSERT INTO "turns" VALUES('01M81K0KM6RXWAAQ8FKGEMYR4C','turn/round1/A',1,'{"step":"turn/round1/A","seat":"A","side":"A","round":"round1","number":1,"place":1,"text":"Tea wakes gently.","words":3,"limit":500,"model":"maple","violations":[]}');
INSERT INTO "turns" VALUES('01M81K0KNWDN7R5W0RJ8AJRHC3','turn/round1/A',1,'{"step":"turn/round1/A","seat":"A","side":"A","round":"round1","number":1,"place":1,"text":"Tea wakes gently.","words":3,"limit":500,"model":"maple","violations":[]}');
INSERT INTO "turns" VALUES('01M81K0KQYHZXS9QZSPG84CQ8V','turn/round1/A',1,'{"step":"turn/round1/A","seat":"A","side":"A","round":"round1","number":1,"place":1,"text":"Tea wakes gently.","words":3,"limit":500,"model":"maple","violations":[]}');
INSERT INTO "turns" VALUES('01M81K0KS8KYH02WAHSS8BC6DF','turn/round1/A',1,'{"step":"turn/round1/A","seat":"A","side":"A","round":"round1","number":1,"place":1,"text":"Tea wakes gently.","words":3,"limit":500,"model":"maple","violations":[]}');
CREATE TABLE usage (
	scope VARCHAR(200) NOT NULL, 
	day VARCHAR(10) NOT NULL, 
	reserved_usd FLOAT NOT NULL, 
	spent_usd FLOAT NOT NULL, 
	debates INTEGER NOT NULL, 
	CONSTRAINT pk_usage PRIMARY KEY (scope, day)
);
INSERT INTO "usage" VALUES('person:1','2026-03-01',0.0,0.0,20);
INSERT INTO "usage" VALUES('community:memory:club','2026-03-01',0.0,0.0,26);
CREATE TABLE verdicts (
	debate VARCHAR(26) NOT NULL, 
	judge VARCHAR(32) NOT NULL, 
	body TEXT NOT NULL, 
	CONSTRAINT pk_verdicts PRIMARY KEY (debate, judge), 
	CONSTRAINT fk_verdicts_debate FOREIGN KEY(debate) REFERENCES debates (id)
);
INSERT INTO "verdicts" VALUES('01M81K0JS0D8SV0WVME70B0P7X','panel','{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true}');
INSERT INTO "verdicts" VALUES('01M81K0JT5N66S4XMEWK2CWE8J','panel','{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true}');
INSERT INTO "verdicts" VALUES('01M81K0JY3YP7P2CEEBYGV3F9F','panel','{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true}');
INSERT INTO "verdicts" VALUES('01M81K0K099ZNV8E3GZFY898BT','panel','{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true}');
INSERT INTO "verdicts" VALUES('01M81K0K77JAJ7XJRDRGVWAGDY','panel','{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true}');
INSERT INTO "verdicts" VALUES('01M81K0K8RAQGTXR7BBH6MJBX7','panel','{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true}');
INSERT INTO "verdicts" VALUES('01M81K0KCK86R0703C2ETEJ5WS','panel','{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true}');
INSERT INTO "verdicts" VALUES('01M81K0KD6QKZ4B1R0024GA1ZN','panel','{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true}');
INSERT INTO "verdicts" VALUES('01M81K0KE16N10J6TNKW177BZA','panel','{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true}');
INSERT INTO "verdicts" VALUES('01M81K0KEWBM1GV6QTHQFB94TC','panel','{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true}');
INSERT INTO "verdicts" VALUES('01M81K0KGA01P67MGSJPDD05WH','panel','{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true}');
INSERT INTO "verdicts" VALUES('01M81K0KJ2CA9A11KCB5FG5N4M','panel','{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true}');
INSERT INTO "verdicts" VALUES('01M81K0KK43C00D88GJCBY3W3K','panel','{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true}');
INSERT INTO "verdicts" VALUES('01M81K0KM6RXWAAQ8FKGEMYR4C','panel','{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true}');
INSERT INTO "verdicts" VALUES('01M81K0KNWDN7R5W0RJ8AJRHC3','panel','{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true}');
INSERT INTO "verdicts" VALUES('01M81K0KQYHZXS9QZSPG84CQ8V','panel','{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true}');
INSERT INTO "verdicts" VALUES('01M81K0KS8KYH02WAHSS8BC6DF','panel','{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true}');
INSERT INTO "verdicts" VALUES('01M81K0KVKR7ATDE3CBSW8A02T','panel','{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true}');
INSERT INTO "verdicts" VALUES('01M81K0KVKR7ATDE3CBSW8A02V','panel','{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true}');
INSERT INTO "verdicts" VALUES('01M81K0KW8Z7JZQKM01FJM0P2X','panel','{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true}');
INSERT INTO "verdicts" VALUES('01M81K0KWNVRQY5YWQGTKT1CE2','panel','{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true}');
INSERT INTO "verdicts" VALUES('01M81K0KWNVRQY5YWQGTKT1CE3','panel','{"winner":"A","problem":"","p":{"A":0.8,"B":0.2},"z":1.5,"valid":2,"invalid":0,"effective_votes":null,"order_alone":false,"slope":0.9,"mode":"adaptive","rubric":"panel","blind":true}');
CREATE TABLE vote_events (
	number INTEGER NOT NULL, 
	debate VARCHAR(26) NOT NULL, 
	person INTEGER NOT NULL, 
	option VARCHAR(8) NOT NULL, 
	added BOOLEAN NOT NULL, 
	how VARCHAR(12) NOT NULL, 
	event VARCHAR(128), 
	received_at DATETIME NOT NULL, 
	late_seen BOOLEAN NOT NULL, 
	question VARCHAR(16) NOT NULL, 
	step VARCHAR(255) NOT NULL, given_at DATETIME, heard_from DATETIME, newer_since DATETIME, read_at DATETIME, 
	CONSTRAINT pk_vote_events PRIMARY KEY (number), 
	CONSTRAINT fk_vote_events_debate FOREIGN KEY(debate) REFERENCES debates (id), 
	CONSTRAINT fk_vote_events_person FOREIGN KEY(person) REFERENCES people (id), 
	CONSTRAINT uq_vote_events_debate_event UNIQUE (debate, event)
);
INSERT INTO "vote_events" VALUES(1,'01M81K0JQHZ9EQ7E2YRFKKV5SY',2,'up',1,'live',NULL,'2026-03-01 12:00:00.004000',0,'stance_before','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(2,'01M81K0JQHZ9EQ7E2YRFKKV5SY',3,'up',1,'live',NULL,'2026-03-01 12:00:00.005000',0,'stance_before','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(3,'01M81K0JQHZ9EQ7E2YRFKKV5SY',4,'down',1,'live',NULL,'2026-03-01 12:00:00.006000',0,'stance_before','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(4,'01M81K0JRF92TMC35DKYV0BPB5',2,'up',1,'live',NULL,'2026-03-01 12:00:00.009000',0,'stance_before','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(5,'01M81K0JS0D8SV0WVME70B0P7X',2,'up',1,'live',NULL,'2026-03-01 12:00:00.012000',0,'stance_before','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(6,'01M81K0JS0D8SV0WVME70B0P7X',3,'up',1,'live',NULL,'2026-03-01 12:00:00.013000',0,'stance_before','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(7,'01M81K0JS0D8SV0WVME70B0P7X',2,'A',1,'live',NULL,'2026-03-01 12:00:00.016000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(8,'01M81K0JS0D8SV0WVME70B0P7X',3,'A',1,'live',NULL,'2026-03-01 12:00:00.017000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(9,'01M81K0JS0D8SV0WVME70B0P7X',4,'A',1,'live',NULL,'2026-03-01 12:00:00.018000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(10,'01M81K0JS0D8SV0WVME70B0P7X',2,'down',1,'live',NULL,'2026-03-01 12:00:00.019000',0,'stance_after','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(11,'01M81K0JS0D8SV0WVME70B0P7X',3,'up',1,'live',NULL,'2026-03-01 12:00:00.020000',0,'stance_after','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(12,'01M81K0JT5N66S4XMEWK2CWE8J',2,'up',1,'live',NULL,'2026-03-01 12:00:00.023000',0,'stance_before','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(13,'01M81K0JT5N66S4XMEWK2CWE8J',3,'unsure',1,'live',NULL,'2026-03-01 12:00:00.024000',0,'stance_before','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(14,'01M81K0JT5N66S4XMEWK2CWE8J',2,'up',1,'live',NULL,'2026-03-01 12:00:00.026000',0,'turn','turn/1',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(15,'01M81K0JT5N66S4XMEWK2CWE8J',3,'down',1,'live',NULL,'2026-03-01 12:00:00.027000',0,'turn','turn/2',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(16,'01M81K0JT5N66S4XMEWK2CWE8J',2,'down',1,'live',NULL,'2026-03-01 12:00:00.028000',0,'stance_after','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(17,'01M81K0JT5N66S4XMEWK2CWE8J',3,'up',1,'live',NULL,'2026-03-01 12:00:00.029000',0,'stance_after','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(18,'01M81K0JT5N66S4XMEWK2CWE8J',2,'A',1,'live',NULL,'2026-03-01 12:00:00.031000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(19,'01M81K0JT5N66S4XMEWK2CWE8J',3,'A',1,'live',NULL,'2026-03-01 12:00:00.032000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(20,'01M81K0JT5N66S4XMEWK2CWE8J',1,'A',1,'live',NULL,'2026-03-01 12:00:00.033000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(21,'01M81K0JT5N66S4XMEWK2CWE8J',2,'B',1,'live',NULL,'2026-03-01 12:00:00.034000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(22,'01M81K0JY3YP7P2CEEBYGV3F9F',2,'A',1,'live',NULL,'2026-03-01 12:00:00.037000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(23,'01M81K0K099ZNV8E3GZFY898BT',2,'A',1,'live',NULL,'2026-03-01 12:00:00.040000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(24,'01M81K0K77JAJ7XJRDRGVWAGDY',2,'B',1,'live',NULL,'2026-03-01 12:31:00.047000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(25,'01M81K0K77JAJ7XJRDRGVWAGDY',3,'B',1,'live',NULL,'2026-03-01 12:31:00.048000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(26,'01M81K0K77JAJ7XJRDRGVWAGDY',4,'B',1,'live',NULL,'2026-03-01 12:31:00.049000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(27,'01M81K0K8RAQGTXR7BBH6MJBX7',2,'A',1,'live',NULL,'2026-03-01 12:31:00.052000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(28,'01M81K0K8RAQGTXR7BBH6MJBX7',3,'B',1,'live',NULL,'2026-03-01 12:31:00.053000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(29,'01M81K0K8RAQGTXR7BBH6MJBX7',2,'A',0,'live',NULL,'2026-03-01 12:31:00.054000',0,'vote','',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(30,'01M81K0K8RAQGTXR7BBH6MJBX7',2,'tie',1,'live',NULL,'2026-03-01 12:31:00.055000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(31,'01M81K0K8RAQGTXR7BBH6MJBX7',3,'B',0,'live',NULL,'2026-03-01 12:31:00.056000',0,'vote','',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(32,'01M81K0K8RAQGTXR7BBH6MJBX7',4,'weak',1,'button',NULL,'2026-03-01 12:31:00.057000',0,'vote','',NULL,NULL,NULL,NULL);
INSERT INTO "vote_events" VALUES(33,'01M81K0K8RAQGTXR7BBH6MJBX7',2,'tie',0,'live',NULL,'2026-03-01 12:31:00.058000',0,'vote','',NULL,NULL,NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(34,'01M81K0KCK86R0703C2ETEJ5WS',2,'A',1,'button',NULL,'2026-03-01 12:31:00.061000',0,'vote','',NULL,NULL,NULL,NULL);
INSERT INTO "vote_events" VALUES(35,'01M81K0KCK86R0703C2ETEJ5WS',3,'B',1,'button',NULL,'2026-03-01 12:31:00.062000',0,'vote','',NULL,NULL,NULL,NULL);
INSERT INTO "vote_events" VALUES(36,'01M81K0KCK86R0703C2ETEJ5WS',2,'tie',1,'button',NULL,'2026-03-01 12:31:00.063000',0,'vote','',NULL,NULL,NULL,NULL);
INSERT INTO "vote_events" VALUES(37,'01M81K0KD6QKZ4B1R0024GA1ZN',2,'A',1,'live',NULL,'2026-03-01 12:31:00.065000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(38,'01M81K0KE16N10J6TNKW177BZA',2,'A',1,'live',NULL,'2026-03-01 12:31:00.068000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(39,'01M81K0KEWBM1GV6QTHQFB94TC',2,'A',1,'live',NULL,'2026-03-01 12:31:00.072000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(40,'01M81K0KGA01P67MGSJPDD05WH',2,'up',1,'live',NULL,'2026-03-01 12:31:00.075000',0,'turn','turn/1',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(41,'01M81K0KGA01P67MGSJPDD05WH',2,'A',1,'live',NULL,'2026-03-01 12:31:00.077000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(42,'01M81K0KGA01P67MGSJPDD05WH',3,'A',1,'live',NULL,'2026-03-01 12:31:00.078000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(43,'01M81K0KGA01P67MGSJPDD05WH',4,'weak',1,'live',NULL,'2026-03-01 12:31:00.079000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(44,'01M81K0KJ2CA9A11KCB5FG5N4M',2,'up',1,'live',NULL,'2026-03-01 12:31:00.085000',0,'turn','turn/1',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(45,'01M81K0KJ2CA9A11KCB5FG5N4M',2,'A',1,'live',NULL,'2026-03-01 12:31:00.087000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(46,'01M81K0KJ2CA9A11KCB5FG5N4M',3,'A',1,'live',NULL,'2026-03-01 12:31:00.088000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(47,'01M81K0KJ2CA9A11KCB5FG5N4M',4,'weak',1,'live',NULL,'2026-03-01 12:31:00.089000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(48,'01M81K0KK43C00D88GJCBY3W3K',2,'up',1,'live',NULL,'2026-03-01 12:31:00.095000',0,'turn','turn/1',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(49,'01M81K0KK43C00D88GJCBY3W3K',2,'A',1,'live',NULL,'2026-03-01 12:31:00.097000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(50,'01M81K0KK43C00D88GJCBY3W3K',3,'A',1,'live',NULL,'2026-03-01 12:31:00.098000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(51,'01M81K0KK43C00D88GJCBY3W3K',4,'weak',1,'live',NULL,'2026-03-01 12:31:00.099000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(52,'01M81K0KM6RXWAAQ8FKGEMYR4C',2,'up',1,'live',NULL,'2026-03-01 12:31:00.104000',0,'turn','turn/1',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(53,'01M81K0KM6RXWAAQ8FKGEMYR4C',2,'A',1,'live',NULL,'2026-03-01 12:31:00.106000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(54,'01M81K0KM6RXWAAQ8FKGEMYR4C',3,'A',1,'live',NULL,'2026-03-01 12:31:00.107000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(55,'01M81K0KM6RXWAAQ8FKGEMYR4C',4,'weak',1,'live',NULL,'2026-03-01 12:31:00.108000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(56,'01M81K0KNWDN7R5W0RJ8AJRHC3',2,'up',1,'live',NULL,'2026-03-01 12:31:00.114000',0,'turn','turn/1',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(57,'01M81K0KNWDN7R5W0RJ8AJRHC3',2,'A',1,'live',NULL,'2026-03-01 12:31:00.116000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(58,'01M81K0KNWDN7R5W0RJ8AJRHC3',3,'A',1,'live',NULL,'2026-03-01 12:31:00.117000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(59,'01M81K0KNWDN7R5W0RJ8AJRHC3',4,'weak',1,'live',NULL,'2026-03-01 12:31:00.118000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(60,'01M81K0KQYHZXS9QZSPG84CQ8V',2,'up',1,'live',NULL,'2026-03-01 12:31:00.124000',0,'turn','turn/1',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(61,'01M81K0KQYHZXS9QZSPG84CQ8V',2,'A',1,'live',NULL,'2026-03-01 12:31:00.126000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(62,'01M81K0KQYHZXS9QZSPG84CQ8V',3,'A',1,'live',NULL,'2026-03-01 12:31:00.127000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(63,'01M81K0KQYHZXS9QZSPG84CQ8V',4,'weak',1,'live',NULL,'2026-03-01 12:31:00.128000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(64,'01M81K0KS8KYH02WAHSS8BC6DF',2,'up',1,'live',NULL,'2026-03-01 12:31:00.134000',0,'turn','turn/1',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(65,'01M81K0KS8KYH02WAHSS8BC6DF',2,'A',1,'live',NULL,'2026-03-01 12:31:00.136000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(66,'01M81K0KS8KYH02WAHSS8BC6DF',3,'A',1,'live',NULL,'2026-03-01 12:31:00.137000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(67,'01M81K0KS8KYH02WAHSS8BC6DF',4,'weak',1,'live',NULL,'2026-03-01 12:31:00.138000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(68,'01M81K0KM6RXWAAQ8FKGEMYR4C',2,'B',1,'live',NULL,'2026-03-01 12:31:00.144000',0,'again','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(69,'01M81K0KNWDN7R5W0RJ8AJRHC3',3,'A',1,'live',NULL,'2026-03-01 12:31:00.146000',0,'again','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(70,'01M81K0KQYHZXS9QZSPG84CQ8V',2,'tie',1,'live',NULL,'2026-03-01 12:31:00.148000',0,'again','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(71,'01M81K0KS8KYH02WAHSS8BC6DF',2,'tie',1,'live',NULL,'2026-03-01 12:31:00.151000',0,'again','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(72,'01M81K0KQYHZXS9QZSPG84CQ8V',3,'A',1,'button',NULL,'2026-03-01 12:31:00.153000',0,'again','',NULL,NULL,NULL,NULL);
INSERT INTO "vote_events" VALUES(73,'01M81K0KVKR7ATDE3CBSW8A02T',2,'A',1,'live',NULL,'2026-03-01 12:31:00.156000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(74,'01M81K0KVKR7ATDE3CBSW8A02T',3,'A',1,'live',NULL,'2026-03-01 12:31:00.157000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(75,'01M81K0KVKR7ATDE3CBSW8A02T',4,'B',1,'live',NULL,'2026-03-01 12:31:00.158000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(76,'01M81K0KVKR7ATDE3CBSW8A02V',2,'A',1,'live',NULL,'2026-03-01 12:31:00.161000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(77,'01M81K0KVKR7ATDE3CBSW8A02V',3,'A',1,'live',NULL,'2026-03-01 12:31:00.162000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(78,'01M81K0KVKR7ATDE3CBSW8A02V',4,'B',1,'live',NULL,'2026-03-01 12:31:00.163000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(79,'01M81K0KW8Z7JZQKM01FJM0P2X',2,'A',1,'live',NULL,'2026-03-01 12:31:00.166000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(80,'01M81K0KW8Z7JZQKM01FJM0P2X',3,'A',1,'live',NULL,'2026-03-01 12:31:00.167000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(81,'01M81K0KW8Z7JZQKM01FJM0P2X',4,'B',1,'live',NULL,'2026-03-01 12:31:00.168000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(82,'01M81K0KWNVRQY5YWQGTKT1CE2',2,'A',1,'live',NULL,'2026-03-01 12:31:00.172000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(83,'01M81K0KWNVRQY5YWQGTKT1CE2',3,'A',1,'live',NULL,'2026-03-01 12:31:00.173000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(84,'01M81K0KWNVRQY5YWQGTKT1CE2',4,'B',1,'live',NULL,'2026-03-01 12:31:00.174000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(85,'01M81K0KWNVRQY5YWQGTKT1CE3',2,'A',1,'live',NULL,'2026-03-01 12:31:00.177000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(86,'01M81K0KWNVRQY5YWQGTKT1CE3',3,'A',1,'live',NULL,'2026-03-01 12:31:00.178000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
INSERT INTO "vote_events" VALUES(87,'01M81K0KWNVRQY5YWQGTKT1CE3',4,'B',1,'live',NULL,'2026-03-01 12:31:00.179000',0,'vote','',NULL,'2026-03-01 12:00:00.001000',NULL,'2026-03-01 12:00:00.001000');
CREATE TABLE votes (
	debate VARCHAR(26) NOT NULL, 
	person INTEGER NOT NULL, 
	question VARCHAR(16) NOT NULL, 
	body TEXT NOT NULL, 
	CONSTRAINT pk_votes PRIMARY KEY (debate, person, question), 
	CONSTRAINT fk_votes_debate FOREIGN KEY(debate) REFERENCES debates (id), 
	CONSTRAINT fk_votes_person FOREIGN KEY(person) REFERENCES people (id)
);
INSERT INTO "votes" VALUES('01M81K0KGA01P67MGSJPDD05WH',2,'vote','{"person":2,"option":"A","ambiguous":false,"gold":true,"starter":false,"judge_visible":false,"late_seen":false,"tally_visible":true,"votes_seen_before":0,"changes":0,"first_at":"2026-03-01T12:31:00.077000Z","last_at":"2026-03-01T12:31:00.077000Z","question":"vote","mirror_revealed":false,"fast":true,"reason":"","recovery":"complete"}');
INSERT INTO "votes" VALUES('01M81K0KGA01P67MGSJPDD05WH',3,'vote','{"person":3,"option":"A","ambiguous":false,"gold":true,"starter":false,"judge_visible":false,"late_seen":false,"tally_visible":true,"votes_seen_before":1,"changes":0,"first_at":"2026-03-01T12:31:00.078000Z","last_at":"2026-03-01T12:31:00.078000Z","question":"vote","mirror_revealed":false,"fast":true,"reason":"","recovery":"complete"}');
INSERT INTO "votes" VALUES('01M81K0KGA01P67MGSJPDD05WH',4,'vote','{"person":4,"option":"weak","ambiguous":false,"gold":true,"starter":false,"judge_visible":false,"late_seen":false,"tally_visible":true,"votes_seen_before":2,"changes":0,"first_at":"2026-03-01T12:31:00.079000Z","last_at":"2026-03-01T12:31:00.079000Z","question":"vote","mirror_revealed":false,"fast":true,"reason":"","recovery":"complete"}');
INSERT INTO "votes" VALUES('01M81K0KJ2CA9A11KCB5FG5N4M',2,'vote','{"person":2,"option":"A","ambiguous":false,"gold":false,"starter":false,"judge_visible":false,"late_seen":false,"tally_visible":true,"votes_seen_before":0,"changes":0,"first_at":"2026-03-01T12:31:00.087000Z","last_at":"2026-03-01T12:31:00.087000Z","question":"vote","mirror_revealed":false,"fast":true,"reason":"unread","recovery":"unread"}');
INSERT INTO "votes" VALUES('01M81K0KJ2CA9A11KCB5FG5N4M',3,'vote','{"person":3,"option":"A","ambiguous":false,"gold":false,"starter":false,"judge_visible":false,"late_seen":false,"tally_visible":true,"votes_seen_before":1,"changes":0,"first_at":"2026-03-01T12:31:00.088000Z","last_at":"2026-03-01T12:31:00.088000Z","question":"vote","mirror_revealed":false,"fast":true,"reason":"unread","recovery":"unread"}');
INSERT INTO "votes" VALUES('01M81K0KJ2CA9A11KCB5FG5N4M',4,'vote','{"person":4,"option":"weak","ambiguous":false,"gold":false,"starter":false,"judge_visible":false,"late_seen":false,"tally_visible":true,"votes_seen_before":2,"changes":0,"first_at":"2026-03-01T12:31:00.089000Z","last_at":"2026-03-01T12:31:00.089000Z","question":"vote","mirror_revealed":false,"fast":true,"reason":"unread","recovery":"unread"}');
INSERT INTO "votes" VALUES('01M81K0KK43C00D88GJCBY3W3K',2,'vote','{"person":2,"option":"A","ambiguous":false,"gold":true,"starter":false,"judge_visible":false,"late_seen":false,"tally_visible":true,"votes_seen_before":0,"changes":0,"first_at":"2026-03-01T12:31:00.097000Z","last_at":"2026-03-01T12:31:00.097000Z","question":"vote","mirror_revealed":false,"fast":true,"reason":"","recovery":"complete"}');
INSERT INTO "votes" VALUES('01M81K0KK43C00D88GJCBY3W3K',3,'vote','{"person":3,"option":"A","ambiguous":false,"gold":true,"starter":false,"judge_visible":false,"late_seen":false,"tally_visible":true,"votes_seen_before":1,"changes":0,"first_at":"2026-03-01T12:31:00.098000Z","last_at":"2026-03-01T12:31:00.098000Z","question":"vote","mirror_revealed":false,"fast":true,"reason":"","recovery":"complete"}');
INSERT INTO "votes" VALUES('01M81K0KK43C00D88GJCBY3W3K',4,'vote','{"person":4,"option":"weak","ambiguous":false,"gold":true,"starter":false,"judge_visible":false,"late_seen":false,"tally_visible":true,"votes_seen_before":2,"changes":0,"first_at":"2026-03-01T12:31:00.099000Z","last_at":"2026-03-01T12:31:00.099000Z","question":"vote","mirror_revealed":false,"fast":true,"reason":"","recovery":"complete"}');
INSERT INTO "votes" VALUES('01M81K0KM6RXWAAQ8FKGEMYR4C',2,'vote','{"person":2,"option":"A","ambiguous":false,"gold":true,"starter":false,"judge_visible":false,"late_seen":false,"tally_visible":true,"votes_seen_before":0,"changes":0,"first_at":"2026-03-01T12:31:00.106000Z","last_at":"2026-03-01T12:31:00.106000Z","question":"vote","mirror_revealed":false,"fast":true,"reason":"","recovery":"complete"}');
INSERT INTO "votes" VALUES('01M81K0KM6RXWAAQ8FKGEMYR4C',3,'vote','{"person":3,"option":"A","ambiguous":false,"gold":true,"starter":false,"judge_visible":false,"late_seen":false,"tally_visible":true,"votes_seen_before":1,"changes":0,"first_at":"2026-03-01T12:31:00.107000Z","last_at":"2026-03-01T12:31:00.107000Z","question":"vote","mirror_revealed":false,"fast":true,"reason":"","recovery":"complete"}');
INSERT INTO "votes" VALUES('01M81K0KM6RXWAAQ8FKGEMYR4C',4,'vote','{"person":4,"option":"weak","ambiguous":false,"gold":true,"starter":false,"judge_visible":false,"late_seen":false,"tally_visible":true,"votes_seen_before":2,"changes":0,"first_at":"2026-03-01T12:31:00.108000Z","last_at":"2026-03-01T12:31:00.108000Z","question":"vote","mirror_revealed":false,"fast":true,"reason":"","recovery":"complete"}');
INSERT INTO "votes" VALUES('01M81K0KNWDN7R5W0RJ8AJRHC3',2,'vote','{"person":2,"option":"A","ambiguous":false,"gold":true,"starter":false,"judge_visible":false,"late_seen":false,"tally_visible":true,"votes_seen_before":0,"changes":0,"first_at":"2026-03-01T12:31:00.116000Z","last_at":"2026-03-01T12:31:00.116000Z","question":"vote","mirror_revealed":false,"fast":true,"reason":"","recovery":"complete"}');
INSERT INTO "votes" VALUES('01M81K0KNWDN7R5W0RJ8AJRHC3',3,'vote','{"person":3,"option":"A","ambiguous":false,"gold":true,"starter":false,"judge_visible":false,"late_seen":false,"tally_visible":true,"votes_seen_before":1,"changes":0,"first_at":"2026-03-01T12:31:00.117000Z","last_at":"2026-03-01T12:31:00.117000Z","question":"vote","mirror_revealed":false,"fast":true,"reason":"","recovery":"complete"}');
INSERT INTO "votes" VALUES('01M81K0KNWDN7R5W0RJ8AJRHC3',4,'vote','{"person":4,"option":"weak","ambiguous":false,"gold":true,"starter":false,"judge_visible":false,"late_seen":false,"tally_visible":true,"votes_seen_before":2,"changes":0,"first_at":"2026-03-01T12:31:00.118000Z","last_at":"2026-03-01T12:31:00.118000Z","question":"vote","mirror_revealed":false,"fast":true,"reason":"","recovery":"complete"}');
INSERT INTO "votes" VALUES('01M81K0KQYHZXS9QZSPG84CQ8V',2,'vote','{"person":2,"option":"A","ambiguous":false,"gold":true,"starter":false,"judge_visible":false,"late_seen":false,"tally_visible":true,"votes_seen_before":0,"changes":0,"first_at":"2026-03-01T12:31:00.126000Z","last_at":"2026-03-01T12:31:00.126000Z","question":"vote","mirror_revealed":false,"fast":true,"reason":"","recovery":"complete"}');
INSERT INTO "votes" VALUES('01M81K0KQYHZXS9QZSPG84CQ8V',3,'vote','{"person":3,"option":"A","ambiguous":false,"gold":true,"starter":false,"judge_visible":false,"late_seen":false,"tally_visible":true,"votes_seen_before":1,"changes":0,"first_at":"2026-03-01T12:31:00.127000Z","last_at":"2026-03-01T12:31:00.127000Z","question":"vote","mirror_revealed":false,"fast":true,"reason":"","recovery":"complete"}');
INSERT INTO "votes" VALUES('01M81K0KQYHZXS9QZSPG84CQ8V',4,'vote','{"person":4,"option":"weak","ambiguous":false,"gold":true,"starter":false,"judge_visible":false,"late_seen":false,"tally_visible":true,"votes_seen_before":2,"changes":0,"first_at":"2026-03-01T12:31:00.128000Z","last_at":"2026-03-01T12:31:00.128000Z","question":"vote","mirror_revealed":false,"fast":true,"reason":"","recovery":"complete"}');
INSERT INTO "votes" VALUES('01M81K0KS8KYH02WAHSS8BC6DF',2,'vote','{"person":2,"option":"A","ambiguous":false,"gold":true,"starter":false,"judge_visible":false,"late_seen":false,"tally_visible":true,"votes_seen_before":0,"changes":0,"first_at":"2026-03-01T12:31:00.136000Z","last_at":"2026-03-01T12:31:00.136000Z","question":"vote","mirror_revealed":false,"fast":true,"reason":"","recovery":"complete"}');
INSERT INTO "votes" VALUES('01M81K0KS8KYH02WAHSS8BC6DF',3,'vote','{"person":3,"option":"A","ambiguous":false,"gold":true,"starter":false,"judge_visible":false,"late_seen":false,"tally_visible":true,"votes_seen_before":1,"changes":0,"first_at":"2026-03-01T12:31:00.137000Z","last_at":"2026-03-01T12:31:00.137000Z","question":"vote","mirror_revealed":false,"fast":true,"reason":"","recovery":"complete"}');
INSERT INTO "votes" VALUES('01M81K0KS8KYH02WAHSS8BC6DF',4,'vote','{"person":4,"option":"weak","ambiguous":false,"gold":true,"starter":false,"judge_visible":false,"late_seen":false,"tally_visible":true,"votes_seen_before":2,"changes":0,"first_at":"2026-03-01T12:31:00.138000Z","last_at":"2026-03-01T12:31:00.138000Z","question":"vote","mirror_revealed":false,"fast":true,"reason":"","recovery":"complete"}');
CREATE INDEX ix_debates_community_created_at ON debates (community, created_at);
CREATE INDEX ix_debates_mirror ON debates (mirror);
CREATE INDEX ix_debates_platform_thread ON debates (platform, thread);
CREATE INDEX ix_debates_status_platform_community ON debates (status, platform, community);
CREATE INDEX ix_calls_out ON calls (state) WHERE state = 'out';
CREATE INDEX ix_interventions_debate ON interventions (debate);
CREATE INDEX ix_outbox_debate_number ON outbox (debate, number);
CREATE INDEX ix_outbox_open ON outbox (debate, number) WHERE state IN ('pending', 'sending');
CREATE INDEX ix_targets_debate ON targets (debate);
CREATE INDEX ix_targets_question_closed_at ON targets (question, closed_at);
CREATE INDEX ix_vote_events_debate_question ON vote_events (debate, question);
CREATE INDEX ix_targets_message ON targets (message);
CREATE INDEX ix_silences_platform ON silences (platform);
COMMIT;
