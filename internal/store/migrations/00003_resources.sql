-- +goose Up
-- What is billed beside instances: disks, snapshots, images, public addresses.
CREATE TABLE resources (
    ref     TEXT PRIMARY KEY,
    account TEXT NOT NULL,
    region  TEXT NOT NULL,
    kind    TEXT NOT NULL,
    gone_at BIGINT NOT NULL,
    body    TEXT NOT NULL
);
CREATE INDEX resources_gone ON resources (gone_at);
-- How the last lists of each kind went, by scope.
CREATE TABLE resource_lists (
    account TEXT NOT NULL,
    region  TEXT NOT NULL,
    kind    TEXT NOT NULL,
    body    TEXT NOT NULL,
    PRIMARY KEY (account, region, kind)
);
-- Intents that are announced together bear the number of the first of them.
ALTER TABLE intents ADD COLUMN batch BIGINT NOT NULL DEFAULT 0;
CREATE INDEX intents_batch ON intents (batch) WHERE batch > 0;
