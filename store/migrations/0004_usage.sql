-- +goose Up
-- What a call cost, told whole: tokens written to the provider's cache, tokens
-- of reasoning (-1: not said), and whether the price is known.

ALTER TABLE calls ADD COLUMN cache_write_tokens BIGINT NOT NULL DEFAULT -1;
ALTER TABLE calls ADD COLUMN reasoning_tokens BIGINT NOT NULL DEFAULT -1;
ALTER TABLE calls ADD COLUMN priced BOOLEAN NOT NULL DEFAULT FALSE;
