-- +goose Up
-- What became of securing an instance's data before a release.
CREATE TABLE secured (
    ref    TEXT NOT NULL,
    boot   TEXT NOT NULL,
    policy TEXT NOT NULL,
    by_way TEXT NOT NULL,
    body   TEXT NOT NULL,
    PRIMARY KEY (ref, boot, policy, by_way)
);
-- What belonged to an instance alone and outlived its release.
CREATE TABLE things_left (
    ref  TEXT PRIMARY KEY,
    body TEXT NOT NULL
);
