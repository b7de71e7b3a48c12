-- +goose Up
-- What people answered to announcements, by buttons and links: each answer counts once.
CREATE TABLE presses (
    intent  BIGINT NOT NULL,
    turn    BIGINT NOT NULL,
    what    TEXT NOT NULL,
    at      BIGINT NOT NULL,
    by_whom TEXT NOT NULL,
    channel TEXT NOT NULL,
    body    TEXT NOT NULL,
    PRIMARY KEY (intent, turn, what)
);
CREATE INDEX presses_at ON presses (at);
