-- +goose Up
-- What an actor asks a person, and the answer; choices is JSON.

ALTER TABLE approvals ADD COLUMN question TEXT NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN choices TEXT NOT NULL DEFAULT 'null';
ALTER TABLE approvals ADD COLUMN choice BIGINT NOT NULL DEFAULT 0;
ALTER TABLE approvals ADD COLUMN answer TEXT NOT NULL DEFAULT '';
