-- +goose Up
-- What platforms billed, by the account's identity: one row for each day whose bill
-- was read, with when it was last read and, as JSON, the items whose use began on it.
CREATE TABLE bills (
    account TEXT NOT NULL,
    day_at  BIGINT NOT NULL,
    read_at BIGINT NOT NULL,
    body    TEXT NOT NULL,
    PRIMARY KEY (account, day_at)
);
