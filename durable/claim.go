package durable

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"github.com/cleveragents/agents/fault"
)

// This file is the one that knows DBOS's tables: workflow_status (the claim),
// workflow_input, workflow_output and operation_outputs (the recorded steps).
// DBOS's own ways of starting a workflow again put it on a queue that every
// process on the file polls once a second; deleting the claim and starting it
// by its id needs no queue, and DBOS finds the recorded steps by that id.

// claim is the status row of a key as it was read.
type claim struct {
	status string
	holder string
	token  sql.NullString // changes with each claim
	output sql.NullString
	errMsg sql.NullString
}

// readClaim returns nil when there is no claim.
func (r *Runner) readClaim(ctx context.Context, key string) (*claim, error) {
	var c claim
	var holder sql.NullString
	err := r.db.QueryRowContext(ctx, `
		SELECT s.status, s.executor_id, s.owner_xid, o.output, o.error
		FROM workflow_status s LEFT JOIN workflow_output o USING (workflow_uuid)
		WHERE workflow_uuid = $1`, key).Scan(&c.status, &holder, &c.token, &c.output, &c.errMsg)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, trouble(ctx, r.path, "read the claim on run "+key, err)
	}
	c.holder = holder.String
	return &c, nil
}

// held reports whether a claim's process still runs it. What is not pending
// was given up. A claim of this very process is left over when no call runs it
// (its end could not be recorded): begin has made sure that this call is alone.
func (r *Runner) held(ctx context.Context, key string, c *claim) bool {
	if c.status != string(dbos.WorkflowStatusPending) || c.holder == r.live.Self() {
		return false
	}
	return r.live.Alive(ctx, c.holder)
}

// free deletes the claim if it still is the one that was read.
func (r *Runner) free(ctx context.Context, key string, c *claim) error {
	_, err := r.db.ExecContext(ctx, `
		DELETE FROM workflow_status
		WHERE workflow_uuid = $1 AND status = $2 AND executor_id = $3 AND owner_xid IS $4`,
		key, c.status, c.holder, c.token)
	if err != nil {
		return trouble(ctx, r.path, "free run "+key, err)
	}
	return nil
}

// verdict is what a Run of an ended key returns.
func (c *claim) verdict(key string) error {
	if c.status == string(dbos.WorkflowStatusSuccess) {
		return nil
	}
	if f := decodeFailed(c.output.String); f != nil {
		return f.fault()
	}
	// A step that panicked left DBOS's text only.
	return fault.New(fault.Internal, "run %s has failed: %s", key, c.errMsg.String)
}

// decodeFailed reads an outcome as DBOS's own serializer writes it: base64 of
// JSON.
func decodeFailed(s string) *failed {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil
	}
	var out outcome
	if json.Unmarshal(b, &out) != nil {
		return nil
	}
	return out.Failed
}

// settle forgets the steps of a key that has ended, and whole runs beyond the
// newest r.keep. Runs of living processes stay.
func (r *Runner) settle(ctx context.Context, key string) error {
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, `DELETE FROM operation_outputs WHERE workflow_uuid = $1`, key); err != nil {
		return err
	}
	old, err := r.beyondKeep(ctx, tx)
	if err != nil {
		return err
	}
	for _, key := range old {
		for _, table := range []string{"operation_outputs", "workflow_input", "workflow_output", "workflow_status"} {
			if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE workflow_uuid = $1`, key); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}

// beyondKeep lists runs that may be forgotten, a bounded number at a time.
func (r *Runner) beyondKeep(ctx context.Context, tx *sql.Tx) ([]string, error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT workflow_uuid, status, coalesce(executor_id, '') FROM workflow_status
		ORDER BY created_at DESC LIMIT 100 OFFSET $1`, r.keep)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var old []string
	for rows.Next() {
		var key, status, holder string
		if err := rows.Scan(&key, &status, &holder); err != nil {
			return nil, err
		}
		if status == string(dbos.WorkflowStatusPending) && r.live.Alive(ctx, holder) {
			continue
		}
		old = append(old, key)
	}
	return old, rows.Err()
}
