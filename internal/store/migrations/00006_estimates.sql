-- +goose Up
-- What people reckoned that a job costs on one instance in one boot: at most one of
-- them is open.
CREATE TABLE estimates (
    id        BIGINT PRIMARY KEY,
    ref       TEXT NOT NULL,
    boot      TEXT NOT NULL,
    closed_at BIGINT NOT NULL,
    body      TEXT NOT NULL
);
CREATE UNIQUE INDEX estimates_open ON estimates (ref, boot) WHERE closed_at = 0;
CREATE INDEX estimates_ref ON estimates (ref, id);
