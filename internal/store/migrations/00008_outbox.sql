-- +goose Up
-- Notices of one group may go in one message, those of one thread follow the first of
-- them, and ref is what the platform calls a message that it took.
ALTER TABLE notices ADD COLUMN thread TEXT NOT NULL DEFAULT '';
CREATE INDEX notices_thread ON notices (thread) WHERE thread <> '';
ALTER TABLE outbox ADD COLUMN grp TEXT NOT NULL DEFAULT '';
ALTER TABLE outbox ADD COLUMN ref TEXT NOT NULL DEFAULT '';
ALTER TABLE outbox ADD COLUMN silent BIGINT NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN taken BIGINT NOT NULL DEFAULT 0;
-- The message that a delivery is in while it is sent, and whether it goes alone.
ALTER TABLE outbox ADD COLUMN letter TEXT NOT NULL DEFAULT '';
ALTER TABLE outbox ADD COLUMN alone BIGINT NOT NULL DEFAULT 0;
UPDATE outbox SET taken = 1 WHERE verdict LIKE '%"kind":"ok"%';
CREATE INDEX outbox_group_due ON outbox (channel, grp, next_at) WHERE grp <> '' AND done_at = 0;
CREATE INDEX outbox_group_taken ON outbox (channel, grp, done_at) WHERE grp <> '' AND taken = 1;
-- What was counted against a channel's quota.
CREATE TABLE sends (
    channel TEXT NOT NULL,
    at      BIGINT NOT NULL
);
CREATE INDEX sends_channel ON sends (channel, at);
-- Who knows of what was told of a thing.
CREATE TABLE answers (
    ref     TEXT PRIMARY KEY,
    at      BIGINT NOT NULL,
    by_whom TEXT NOT NULL
);
