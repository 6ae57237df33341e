-- +goose Up
-- A graph may have several models; each has a conversation of its own.

ALTER TABLE calls ADD COLUMN node TEXT NOT NULL DEFAULT '';
