-- +goose Up
-- What came of examining machines. It is kept although they are gone, since it tells of
-- their platform and region.
CREATE TABLE accepted (
    id       BIGINT PRIMARY KEY,
    ref      TEXT NOT NULL,
    boot     TEXT NOT NULL,
    at       BIGINT NOT NULL,
    provider TEXT NOT NULL,
    region   TEXT NOT NULL,
    gpu      TEXT NOT NULL,
    body     TEXT NOT NULL
);
CREATE INDEX accepted_ref ON accepted (ref, id);
CREATE INDEX accepted_where ON accepted (provider, region, at);
