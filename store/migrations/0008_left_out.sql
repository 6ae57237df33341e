-- +goose Up
-- What of the conversation a prompt leaves out; a blob.

ALTER TABLE calls ADD COLUMN left_out TEXT NOT NULL DEFAULT '';
