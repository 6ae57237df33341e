package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/blob"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/store"
	"github.com/cleveragents/agents/store/sqlite"
	"github.com/cleveragents/agents/upkeep"
)

// defaultOlder is how long something is unused before gc removes it.
const defaultOlder = 7 * 24 * time.Hour

// data answers in the words of the operations what package upkeep does.
type data struct{ w *world }

// Path returns the database file.
func (d data) Path() string { return d.w.paths.Store }

// Status counts the tables; check asks for the whole-database check, too.
func (d data) Status(ctx context.Context, check bool) (a2a.DBStatusView, error) {
	got, err := d.w.db.Status(ctx)
	if err != nil {
		return a2a.DBStatusView{}, err
	}
	v := a2a.DBStatusView{Path: got.Where, Schema: got.Schema, Bytes: got.Bytes, Rows: map[string]int64{}}
	for _, t := range got.Tables {
		v.Rows[t.Name] = t.Rows
	}
	if check {
		v.Check = "ok"
		if len(got.Problems) > 0 {
			v.Check = got.Problems[0]
		}
	}
	return v, nil
}

// enter joins the users of the data directory, for an operation on data that is
// not open. A directory that is not there is not made for a look.
func (w *world) enter(ctx context.Context, make bool) (*upkeep.Use, error) {
	if _, err := os.Stat(w.dir); errors.Is(err, fs.ErrNotExist) && !make {
		return nil, nil
	}
	return upkeep.Enter(ctx, w.dir)
}

// Backup implements local.Data.
func (d data) Backup(ctx context.Context, r a2a.DBBackupRequest) (a2a.DBBackupView, error) {
	h, size, err := upkeep.Backup(ctx, d.w.blobs, upkeep.BackupRequest{
		DataDir: d.w.dir, File: r.File, NoBlobs: r.NoBlobs, Now: time.Now(), Program: release,
	})
	if err != nil {
		return a2a.DBBackupView{}, err
	}
	return backupView(r.File, h, size), nil
}

func backupView(file string, h upkeep.Head, size int64) a2a.DBBackupView {
	return a2a.DBBackupView{
		File: file, Bytes: size, Made: h.Made.Format(time.RFC3339), Schema: h.Schema, Whole: h.Whole, Blobs: h.Blobs,
	}
}

// Restore implements local.Data.
func (d data) Restore(ctx context.Context, r a2a.DBRestoreRequest) (v a2a.DBRestoreView, err error) {
	use, err := d.w.enter(ctx, true)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, use.Close()) }()
	if err := use.Alone(ctx); err != nil {
		return v, err
	}
	scratch, err := os.MkdirTemp("", "agents-restore-")
	if err != nil {
		return v, fault.New(fault.Unavailable, "restore: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	blobs, err := blob.Open(scratch, nil) // to read blobs with, not to keep them
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, blobs.Close()) }()
	got, err := upkeep.Restore(ctx, upkeep.RestoreRequest{
		DataDir: d.w.dir, File: r.File, Replace: r.Replace, Now: time.Now(), Check: blobs.Check,
	})
	if err != nil {
		return v, err
	}
	fi, err := os.Stat(r.File)
	if err != nil {
		return v, fault.New(fault.Unavailable, "restore: %w", err)
	}
	return a2a.DBRestoreView{Backup: backupView(r.File, got.Head, fi.Size()), Aside: got.Aside}, nil
}

// Migrate implements local.Data. Opening is what migrates; the copy that it
// leaves beside the store is the backup.
func (d data) Migrate(ctx context.Context, dryRun bool) (v a2a.DBMigrateView, err error) {
	use, err := d.w.enter(ctx, !dryRun)
	if err != nil {
		return v, err
	}
	if use != nil {
		defer func() { err = errors.Join(err, use.Close()) }()
	}
	look, err := sqlite.Look(ctx, d.w.paths.Store, false)
	if err != nil {
		return v, err
	}
	if look.Schema > look.Latest {
		return v, store.Newer(d.w.paths.Store, look.Schema, look.Latest)
	}
	v = a2a.DBMigrateView{Path: d.w.paths.Store, Schema: look.Schema, Latest: look.Latest, DryRun: dryRun}
	if v.Steps, err = store.Pending(store.Migrations(), look.Schema); err != nil || dryRun || len(v.Steps) == 0 {
		return v, err
	}
	db, err := sqlite.Open(ctx, d.w.paths.Store, sqlite.Options{})
	if err != nil {
		return v, err
	}
	if look.Schema > 0 {
		v.Backup = sqlite.BackupName(d.w.paths.Store, look.Schema)
	}
	return v, db.Close()
}

// GC implements local.Data.
func (d data) GC(ctx context.Context, r a2a.DBGCRequest) (a2a.DBGCView, error) {
	older := defaultOlder
	if r.OlderThan != "" {
		var err error
		if older, err = time.ParseDuration(r.OlderThan); err != nil {
			return a2a.DBGCView{}, fault.New(fault.Invalid, "--older-than %q is not a duration", r.OlderThan).WithHint("such as 36h")
		}
	}
	f, err := upkeep.GC(ctx, d.w.db, d.w.blobs, d.w.trees, upkeep.Options{
		Now: time.Now(), Older: older, DryRun: r.DryRun, Alive: d.w.live.Alive, DataDir: d.w.dir,
	})
	if err != nil {
		return a2a.DBGCView{}, err
	}
	return a2a.DBGCView{
		Path: d.w.dir, DryRun: r.DryRun, BlobsLeft: f.BlobsLeft,
		Blobs: a2a.Freed{Count: f.Files, Bytes: f.FileBytes}, Rows: a2a.Freed{Count: f.Rows, Bytes: f.RowBytes},
		Sandboxes: a2a.Freed{Count: f.Sandboxes, Bytes: f.SandboxBytes}, Bases: a2a.Freed{Count: f.Bases, Bytes: f.BaseBytes},
		Temp: a2a.Freed{Count: f.Temp},
	}, nil
}
