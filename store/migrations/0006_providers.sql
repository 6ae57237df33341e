-- +goose Up
-- Where models are asked; doc is JSON and never holds a key.

CREATE TABLE providers (
    name TEXT NOT NULL PRIMARY KEY,
    doc  TEXT NOT NULL
);
