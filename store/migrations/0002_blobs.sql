-- +goose Up
-- Small blobs lie beside the records that name them, so that one transaction
-- makes both durable. SQLite keeps bytes as they are in a column of any type.

CREATE TABLE blobs (
    hash TEXT  NOT NULL PRIMARY KEY,
    data BYTEA NOT NULL
);
