-- +goose Up
-- What people attach to a plan lies beside its row, which only the process that
-- runs the plan changes.

CREATE TABLE plan_marks (
    plan_id TEXT NOT NULL REFERENCES plans (id),
    key     TEXT NOT NULL,
    value   TEXT NOT NULL,
    PRIMARY KEY (plan_id, key)
);
CREATE INDEX plan_marks_key ON plan_marks (key, value);
CREATE INDEX calls_started ON calls (started);
CREATE INDEX tool_calls_started ON tool_calls (started);
