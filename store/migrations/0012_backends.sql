-- +goose Up
-- What confined the program of a tool or of a validation; '' where none ran.

ALTER TABLE tool_calls ADD COLUMN backend TEXT NOT NULL DEFAULT '';
ALTER TABLE validation_results ADD COLUMN backend TEXT NOT NULL DEFAULT '';
