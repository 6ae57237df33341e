-- +goose Up
-- Both databases take this text unchanged. Times are RFC 3339 in UTC with nine
-- digits, so that they sort as text. Column n (or seq) is the order of
-- creation; clocks may go back, it does not. References between the records of
-- a plan are deferred: they count at commit, in whatever order a transaction
-- writes the records.

CREATE TABLE actions (
    name TEXT NOT NULL PRIMARY KEY,
    doc  TEXT NOT NULL
);

CREATE TABLE actors (
    name TEXT NOT NULL PRIMARY KEY,
    doc  TEXT NOT NULL
);

CREATE TABLE resources (
    id       TEXT   NOT NULL PRIMARY KEY,
    n        BIGINT NOT NULL UNIQUE,
    name     TEXT   NOT NULL UNIQUE,
    type     TEXT   NOT NULL,
    location TEXT   NOT NULL,
    created  TEXT   NOT NULL
);

CREATE TABLE projects (
    name               TEXT NOT NULL PRIMARY KEY,
    description        TEXT NOT NULL,
    automation_profile TEXT NOT NULL,
    created            TEXT NOT NULL
);

CREATE TABLE project_links (
    project     TEXT    NOT NULL REFERENCES projects (name),
    pos         BIGINT  NOT NULL,
    resource_id TEXT    NOT NULL REFERENCES resources (id),
    read_only   BOOLEAN NOT NULL,
    PRIMARY KEY (project, pos),
    UNIQUE (project, resource_id)
);

CREATE TABLE settings (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE plans (
    id      TEXT   NOT NULL PRIMARY KEY,
    n       BIGINT NOT NULL UNIQUE,
    name    TEXT   NOT NULL,
    project TEXT   REFERENCES projects (name),
    phase   TEXT   NOT NULL,
    state   TEXT   NOT NULL,
    attempt BIGINT NOT NULL,
    created TEXT   NOT NULL,
    updated TEXT   NOT NULL,
    version BIGINT NOT NULL,
    doc     TEXT   NOT NULL -- JSON: the whole plan; where a column says otherwise, the column counts
);
CREATE UNIQUE INDEX plans_name ON plans (name) WHERE name <> '';
CREATE INDEX plans_project ON plans (project);
CREATE INDEX plans_state ON plans (state);

CREATE TABLE events (
    plan_id TEXT   NOT NULL REFERENCES plans (id),
    seq     BIGINT NOT NULL,
    at      TEXT   NOT NULL,
    type    TEXT   NOT NULL,
    data    TEXT   NOT NULL,
    PRIMARY KEY (plan_id, seq)
);

CREATE TABLE claims (
    plan_id TEXT NOT NULL PRIMARY KEY REFERENCES plans (id),
    holder  TEXT NOT NULL,
    at      TEXT NOT NULL
);

-- call_id, tool_call_id and checkpoint_id refer forward, to tables that refer
-- back here, and therefore carry no constraint.
CREATE TABLE decisions (
    id                 TEXT    NOT NULL PRIMARY KEY,
    plan_id            TEXT    NOT NULL REFERENCES plans (id),
    seq                BIGINT  NOT NULL,
    parent_id          TEXT,
    attempt            BIGINT  NOT NULL,
    phase              TEXT    NOT NULL,
    type               TEXT    NOT NULL,
    question           TEXT    NOT NULL,
    chosen_option      TEXT    NOT NULL,
    alternatives       TEXT    NOT NULL, -- JSON
    rationale          TEXT    NOT NULL,
    confidence_score   DOUBLE PRECISION,
    claimed_confidence DOUBLE PRECISION,
    evidence           TEXT    NOT NULL, -- JSON
    implicit           BOOLEAN NOT NULL,
    call_id            TEXT    NOT NULL,
    tool_call_id       TEXT    NOT NULL,
    manifest           TEXT    NOT NULL,
    actor_state        TEXT    NOT NULL,
    checkpoint_id      TEXT    NOT NULL,
    superseded_by      TEXT,
    created            TEXT    NOT NULL,
    UNIQUE (plan_id, seq),
    UNIQUE (plan_id, id),
    FOREIGN KEY (plan_id, parent_id) REFERENCES decisions (plan_id, id),
    FOREIGN KEY (plan_id, superseded_by) REFERENCES decisions (plan_id, id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE influences (
    plan_id TEXT NOT NULL,
    up_id   TEXT NOT NULL,
    down_id TEXT NOT NULL,
    PRIMARY KEY (plan_id, down_id, up_id),
    FOREIGN KEY (plan_id, up_id) REFERENCES decisions (plan_id, id),
    FOREIGN KEY (plan_id, down_id) REFERENCES decisions (plan_id, id)
);
CREATE INDEX influences_up ON influences (plan_id, up_id);

CREATE TABLE checkpoints (
    id          TEXT   NOT NULL PRIMARY KEY,
    plan_id     TEXT   NOT NULL REFERENCES plans (id),
    n           BIGINT NOT NULL,
    decision_id TEXT   REFERENCES decisions (id) DEFERRABLE INITIALLY DEFERRED,
    changes     TEXT   NOT NULL,
    files       BIGINT NOT NULL,
    created     TEXT   NOT NULL,
    UNIQUE (plan_id, n)
);

CREATE TABLE calls (
    id                TEXT   NOT NULL PRIMARY KEY,
    plan_id           TEXT   NOT NULL REFERENCES plans (id),
    n                 BIGINT NOT NULL,
    phase             TEXT   NOT NULL,
    attempt           BIGINT NOT NULL,
    turn              BIGINT NOT NULL,
    actor             TEXT   NOT NULL,
    provider          TEXT   NOT NULL,
    model             TEXT   NOT NULL,
    resolved          TEXT   NOT NULL,
    request_key       TEXT   NOT NULL,
    manifest          TEXT   NOT NULL,
    request           TEXT   NOT NULL,
    response          TEXT   NOT NULL,
    message           TEXT   NOT NULL,
    stop              TEXT   NOT NULL,
    input_tokens      BIGINT NOT NULL,
    output_tokens     BIGINT NOT NULL,
    cache_read_tokens BIGINT NOT NULL,
    cost              DOUBLE PRECISION NOT NULL,
    attempts          BIGINT NOT NULL,
    error             TEXT   NOT NULL,
    started           TEXT   NOT NULL,
    finished          TEXT,
    UNIQUE (plan_id, phase, attempt, turn),
    UNIQUE (plan_id, n)
);

CREATE TABLE tool_calls (
    id          TEXT   NOT NULL PRIMARY KEY,
    plan_id     TEXT   NOT NULL REFERENCES plans (id),
    n           BIGINT NOT NULL,
    phase       TEXT   NOT NULL,
    attempt     BIGINT NOT NULL,
    turn        BIGINT NOT NULL,
    idx         BIGINT NOT NULL,
    call_id     TEXT   REFERENCES calls (id) DEFERRABLE INITIALLY DEFERRED,
    node        TEXT   NOT NULL,
    ref         TEXT   NOT NULL,
    tool        TEXT   NOT NULL,
    proposed    TEXT   NOT NULL,
    executed    TEXT   NOT NULL,
    decision_id TEXT   REFERENCES decisions (id) DEFERRABLE INITIALLY DEFERRED,
    status      TEXT   NOT NULL,
    exit_status BIGINT,
    output      TEXT   NOT NULL,
    whole       TEXT   NOT NULL,
    noted       TEXT   NOT NULL, -- JSON
    started     TEXT   NOT NULL,
    finished    TEXT,
    UNIQUE (plan_id, phase, attempt, turn, idx),
    UNIQUE (plan_id, n)
);

CREATE TABLE hunks (
    id           TEXT   NOT NULL PRIMARY KEY,
    plan_id      TEXT   NOT NULL REFERENCES plans (id),
    seq          BIGINT NOT NULL,
    tool_call_id TEXT   REFERENCES tool_calls (id) DEFERRABLE INITIALLY DEFERRED,
    call_id      TEXT   REFERENCES calls (id) DEFERRABLE INITIALLY DEFERRED,
    decision_id  TEXT   NOT NULL REFERENCES decisions (id) DEFERRABLE INITIALLY DEFERRED,
    origin       TEXT   NOT NULL,
    resource_id  TEXT   NOT NULL REFERENCES resources (id),
    path         TEXT   NOT NULL,
    before_kind  TEXT   NOT NULL,
    before_mode  BIGINT NOT NULL,
    before_size  BIGINT NOT NULL,
    before_hash  TEXT   NOT NULL,
    after_kind   TEXT   NOT NULL,
    after_mode   BIGINT NOT NULL,
    after_size   BIGINT NOT NULL,
    after_hash   TEXT   NOT NULL,
    ranges       TEXT   NOT NULL, -- JSON
    created      TEXT   NOT NULL,
    UNIQUE (plan_id, seq)
);
CREATE INDEX hunks_path ON hunks (plan_id, path);

CREATE TABLE gaps (
    plan_id      TEXT   NOT NULL REFERENCES plans (id),
    seq          BIGINT NOT NULL,
    kind         TEXT   NOT NULL,
    tool_call_id TEXT   REFERENCES tool_calls (id) DEFERRABLE INITIALLY DEFERRED,
    path         TEXT   NOT NULL,
    detail       TEXT   NOT NULL,
    at           TEXT   NOT NULL,
    PRIMARY KEY (plan_id, seq)
);

CREATE TABLE validation_results (
    id          TEXT   NOT NULL PRIMARY KEY,
    plan_id     TEXT   NOT NULL REFERENCES plans (id),
    n           BIGINT NOT NULL,
    attempt     BIGINT NOT NULL,
    round       BIGINT NOT NULL,
    name        TEXT   NOT NULL,
    mode        TEXT   NOT NULL,
    verdict     TEXT   NOT NULL,
    exit_status BIGINT,
    message     TEXT   NOT NULL,
    output      TEXT   NOT NULL,
    change_set  TEXT   NOT NULL,
    started     TEXT   NOT NULL,
    finished    TEXT   NOT NULL,
    UNIQUE (plan_id, n)
);

CREATE TABLE approvals (
    id       TEXT   NOT NULL PRIMARY KEY,
    n        BIGINT NOT NULL UNIQUE,
    plan_id  TEXT   NOT NULL REFERENCES plans (id),
    kind     TEXT   NOT NULL,
    subject  TEXT   NOT NULL,
    summary  TEXT   NOT NULL,
    bound    TEXT   NOT NULL,
    state    TEXT   NOT NULL,
    guidance TEXT   NOT NULL,
    note     TEXT   NOT NULL,
    created  TEXT   NOT NULL,
    decided  TEXT
);
CREATE INDEX approvals_plan ON approvals (plan_id, n);
CREATE INDEX approvals_state ON approvals (state);
