-- +goose Up
-- Times are milliseconds since 1970 in UTC; 0 means none. The same text runs on
-- SQLite and PostgreSQL, hence BIGINT and TEXT only.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
CREATE TABLE numbers (
    name TEXT PRIMARY KEY,
    n    BIGINT NOT NULL
);
CREATE TABLE accounts (
    identity        TEXT PRIMARY KEY,
    provider        TEXT NOT NULL,
    name            TEXT NOT NULL,
    credential_hash TEXT NOT NULL,
    first_seen      BIGINT NOT NULL
);
CREATE TABLE scopes (
    account TEXT NOT NULL,
    region  TEXT NOT NULL,
    body    TEXT NOT NULL,
    PRIMARY KEY (account, region)
);
CREATE TABLE things (
    ref           TEXT PRIMARY KEY,
    account       TEXT NOT NULL,
    region        TEXT NOT NULL,
    body          TEXT NOT NULL,
    boots         BIGINT NOT NULL,
    first_seen    BIGINT NOT NULL,
    seen_at       BIGINT NOT NULL,
    missing_since BIGINT NOT NULL,
    gone_at       BIGINT NOT NULL
);
CREATE INDEX things_account ON things (account, gone_at);
CREATE TABLE segments (
    ref     TEXT NOT NULL,
    what    TEXT NOT NULL,
    from_at BIGINT NOT NULL,
    to_at   BIGINT NOT NULL,
    value   TEXT NOT NULL,
    PRIMARY KEY (ref, what, from_at)
);
CREATE INDEX segments_open ON segments (ref, what) WHERE to_at = 0;
CREATE INDEX segments_to ON segments (to_at);
CREATE TABLE runs (
    ref      TEXT NOT NULL,
    boot     TEXT NOT NULL,
    id       TEXT NOT NULL,
    ended_at BIGINT NOT NULL,
    body     TEXT NOT NULL,
    PRIMARY KEY (ref, boot, id)
);
CREATE INDEX runs_ended ON runs (ended_at);
CREATE TABLE intents (
    id         BIGINT PRIMARY KEY,
    ref        TEXT NOT NULL,
    account    TEXT NOT NULL,
    boot       TEXT NOT NULL,
    action     TEXT NOT NULL,
    effect     TEXT NOT NULL,
    money      BIGINT NOT NULL,
    state      TEXT NOT NULL,
    outcome    TEXT NOT NULL,
    fence      BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    first_sent BIGINT NOT NULL,
    closed_at  BIGINT NOT NULL,
    body       TEXT NOT NULL
);
CREATE UNIQUE INDEX intents_one_open ON intents (ref) WHERE state <> 'closed';
CREATE INDEX intents_sent ON intents (effect, first_sent);
CREATE INDEX intents_ref ON intents (ref, closed_at);
CREATE TABLE journal (
    id     BIGINT PRIMARY KEY,
    intent BIGINT NOT NULL,
    at     BIGINT NOT NULL,
    fence  BIGINT NOT NULL,
    step   TEXT NOT NULL,
    body   TEXT NOT NULL
);
CREATE INDEX journal_intent ON journal (intent, id);
CREATE TABLE holds (
    id         BIGINT PRIMARY KEY,
    ref        TEXT NOT NULL,
    until      BIGINT NOT NULL,
    body       TEXT NOT NULL
);
CREATE INDEX holds_ref ON holds (ref, until);
CREATE TABLE approvals (
    intent     BIGINT PRIMARY KEY,
    by_whom    TEXT NOT NULL,
    at         BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE TABLE ticks (
    policy TEXT PRIMARY KEY,
    due    BIGINT NOT NULL
);
CREATE TABLE notices (
    id   BIGINT PRIMARY KEY,
    key  TEXT NOT NULL,
    at   BIGINT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX notices_key ON notices (key, at);
CREATE INDEX notices_at ON notices (at);
CREATE TABLE outbox (
    id         BIGINT PRIMARY KEY,
    notice     BIGINT NOT NULL,
    channel    TEXT NOT NULL,
    intent     BIGINT NOT NULL,
    opens      BIGINT NOT NULL,
    attempt    BIGINT NOT NULL,
    plain      BIGINT NOT NULL,
    next_at    BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    done_at    BIGINT NOT NULL,
    verdict    TEXT NOT NULL,
    UNIQUE (notice, channel)
);
CREATE INDEX outbox_due ON outbox (next_at) WHERE done_at = 0;
CREATE TABLE requests (
    account TEXT NOT NULL,
    class   TEXT NOT NULL,
    since   BIGINT NOT NULL,
    span    BIGINT NOT NULL,
    n       BIGINT NOT NULL,
    PRIMARY KEY (account, class, span, since)
);
CREATE TABLE pins (
    ref  TEXT NOT NULL,
    boot TEXT NOT NULL,
    key  TEXT NOT NULL,
    PRIMARY KEY (ref, boot)
);
