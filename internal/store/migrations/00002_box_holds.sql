-- +goose Up
-- What people wrote into ~/.curfew/hold, as a look last read it: it holds while
-- nobody can look, and while no daemon runs.
CREATE TABLE box_holds (
    ref   TEXT PRIMARY KEY,
    until BIGINT NOT NULL,
    body  TEXT NOT NULL
);
