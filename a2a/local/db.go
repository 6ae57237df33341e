package local

import (
	"context"
	"fmt"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/plan"
)

// Closed returns the methods that are answered without opening the store: they
// are there for the day on which it does not open. The facade's engine may be
// nil for them.
func Closed() []string {
	return []string{a2a.DBPath().Method, a2a.DBRestore().Method, a2a.DBMigrate().Method, a2a.DoctorRun().Method}
}

func (f *Facade) dbHandlers() []a2a.Handler {
	return []a2a.Handler{
		a2a.Handle(a2a.DBPath(), f.dbPath),
		a2a.Handle(a2a.DBStatus(), f.dbStatus),
		a2a.Handle(a2a.DBBackup(), f.dbBackup),
		a2a.Handle(a2a.DBRestore(), f.dbRestore),
		a2a.Handle(a2a.DBMigrate(), f.dbMigrate),
		a2a.Handle(a2a.DBGC(), f.dbGC),
	}
}

func (f *Facade) dbPath(context.Context, a2a.Nothing, func(plan.Event)) (a2a.DBPathView, error) {
	return f.Paths, nil
}

func (f *Facade) dbStatus(ctx context.Context, q a2a.DBStatusQuery, _ func(plan.Event)) (a2a.DBStatusView, error) {
	check := q.Check || q.Full
	v, err := f.DB.Status(ctx, check)
	if err != nil || !check {
		return v, err
	}
	most := SampleBlobs
	if q.Full {
		most = 0
	}
	blobs, err := Blobs(ctx, f.Engine, false, most)
	if err != nil {
		return v, err
	}
	v.Blobs = &blobs
	if n := len(blobs.Hurt); n > 0 && v.Check == "ok" {
		v.Check = fmt.Sprintf("blobs of %d plans are missing or damaged", n)
		if n == 1 {
			v.Check = "blobs of plan " + blobs.Hurt[0].Name + " are missing or damaged"
		}
	}
	return v, nil
}

func (f *Facade) dbBackup(ctx context.Context, r a2a.DBBackupRequest, _ func(plan.Event)) (a2a.DBBackupView, error) {
	return f.DB.Backup(ctx, r)
}

func (f *Facade) dbRestore(ctx context.Context, r a2a.DBRestoreRequest, _ func(plan.Event)) (a2a.DBRestoreView, error) {
	return f.DB.Restore(ctx, r)
}

func (f *Facade) dbMigrate(ctx context.Context, r a2a.DBMigrateRequest, _ func(plan.Event)) (a2a.DBMigrateView, error) {
	return f.DB.Migrate(ctx, r.DryRun)
}

func (f *Facade) dbGC(ctx context.Context, r a2a.DBGCRequest, _ func(plan.Event)) (a2a.DBGCView, error) {
	return f.DB.GC(ctx, r)
}
