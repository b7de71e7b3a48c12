-- +goose Up
-- What wallets held, by the account's identity: one row for as long as nothing
-- changed, from the first reading that showed it to the last. Amounts are
-- millionths of the currency's unit.
CREATE TABLE wallets (
    account  TEXT NOT NULL,
    at       BIGINT NOT NULL,
    seen_at  BIGINT NOT NULL,
    cash     BIGINT NOT NULL,
    vouchers BIGINT NOT NULL,
    credit   BIGINT NOT NULL,
    currency TEXT NOT NULL,
    PRIMARY KEY (account, at)
);
