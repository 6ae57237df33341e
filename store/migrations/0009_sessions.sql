-- +goose Up
-- A conversation with one actor. A message names the plan that it is the task
-- of, or that answered it; one that was imported may name a plan that is not
-- here, so the name carries no constraint. Column n is the order of creation.

CREATE TABLE sessions (
    id      TEXT   NOT NULL PRIMARY KEY,
    n       BIGINT NOT NULL UNIQUE,
    name    TEXT   NOT NULL UNIQUE,
    project TEXT   NOT NULL REFERENCES projects (name),
    actor   TEXT   NOT NULL,
    created TEXT   NOT NULL,
    updated TEXT   NOT NULL
);
CREATE INDEX sessions_project ON sessions (project);

CREATE TABLE session_messages (
    session_id TEXT    NOT NULL REFERENCES sessions (id),
    n          BIGINT  NOT NULL,
    role       TEXT    NOT NULL,
    text       TEXT    NOT NULL,
    plan_id    TEXT    NOT NULL,
    imported   BOOLEAN NOT NULL,
    at         TEXT    NOT NULL,
    PRIMARY KEY (session_id, n)
);
