package a2a

import (
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

func dbOps() []Info {
	return []Info{
		DBPath().info(), DBStatus().info(), DBBackup().info(), DBRestore().info(), DBMigrate().info(), DBGC().info(),
	}
}

// DBPath tells where the store is.
func DBPath() Op[Nothing, DBPathView] {
	return Op[Nothing, DBPathView]{Method: prefix + "db/path", Role: Admin, Doc: "where the store is"}
}

// DBStatus tells how the store is.
func DBStatus() Op[DBStatusQuery, DBStatusView] {
	return Op[DBStatusQuery, DBStatusView]{Method: prefix + "db/status", Role: Admin, Doc: "how the store is"}
}

// DBBackup writes the data to one file.
func DBBackup() Op[DBBackupRequest, DBBackupView] {
	return Op[DBBackupRequest, DBBackupView]{Method: prefix + "db/backup", Role: Admin, Doc: "write the data to one file"}
}

// DBRestore puts a backup in the place of the data.
func DBRestore() Op[DBRestoreRequest, DBRestoreView] {
	return Op[DBRestoreRequest, DBRestoreView]{Method: prefix + "db/restore", Role: Admin, Doc: "bring a backup back"}
}

// DBMigrate brings the store to the schema of this program.
func DBMigrate() Op[DBMigrateRequest, DBMigrateView] {
	return Op[DBMigrateRequest, DBMigrateView]{Method: prefix + "db/migrate", Role: Admin, Doc: "bring the schema up to date"}
}

// DBGC removes what nothing names any more.
func DBGC() Op[DBGCRequest, DBGCView] {
	return Op[DBGCRequest, DBGCView]{Method: prefix + "db/gc", Role: Admin, Doc: "remove what nothing names"}
}

// DBPathView is where the program keeps its data.
type DBPathView struct {
	Store  string `json:"store"`  // the database file
	Blobs  string `json:"blobs"`  // directory
	Engine string `json:"engine"` // the workflow engine's database file
	Trees  string `json:"trees"`  // directory of snapshots and sandboxes
}

// DBStatusQuery asks for a check too: of the whole database, and of the blobs
// that plans name, a sample of them or all.
type DBStatusQuery struct {
	Check bool `json:"check,omitempty"`
	Full  bool `json:"full,omitempty"`
}

// DBStatusView is how the store is.
type DBStatusView struct {
	Path   string           `json:"path"`
	Schema int64            `json:"schema_version"`
	Bytes  int64            `json:"bytes"`
	Rows   map[string]int64 `json:"rows"`
	Check  string           `json:"check,omitempty"` // ok, or what is wrong
	Blobs  *BlobsView       `json:"blobs,omitempty"` // where a check was asked for
}

// BlobsView is whether the blobs that plans name are there and whole.
type BlobsView struct {
	Plans   int        `json:"plans"` // looked at
	Read    int        `json:"read"`
	Sampled bool       `json:"sampled"` // not all of them were read
	Hurt    []HurtPlan `json:"hurt"`
}

// HurtPlan is a plan that has lost blobs.
type HurtPlan struct {
	ID   ident.PlanID `json:"id"`
	Name string       `json:"name"`
	plan.Status
	Missing int      `json:"missing"`
	Damaged int      `json:"damaged"`
	Blobs   []string `json:"blobs"` // some of them
}

// DBBackupRequest says where the backup goes.
type DBBackupRequest struct {
	File    string `json:"file"`               // absolute
	NoBlobs bool   `json:"no_blobs,omitempty"` // the database alone
}

// DBBackupView is a backup.
type DBBackupView struct {
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	Made   string `json:"made"`
	Schema int64  `json:"schema_version"`
	Whole  bool   `json:"whole"` // with the blobs
	Blobs  int    `json:"blobs"`
}

// DBRestoreRequest says which backup is brought back.
type DBRestoreRequest struct {
	File    string `json:"file"`              // absolute
	Replace bool   `json:"replace,omitempty"` // the data that is there is set aside
}

// DBRestoreView is what was brought back.
type DBRestoreView struct {
	Backup DBBackupView `json:"backup"`
	Aside  string       `json:"aside,omitempty"` // where the old data is
}

// DBMigrateRequest asks to migrate, or what that would do.
type DBMigrateRequest struct {
	DryRun bool `json:"dry_run,omitempty"`
}

// DBMigrateView is the schema and what was or would be run.
type DBMigrateView struct {
	Path   string   `json:"path"`
	Schema int64    `json:"schema_version"` // as it was
	Latest int64    `json:"latest"`
	Steps  []string `json:"steps"`
	Backup string   `json:"backup,omitempty"` // the copy of the store as it was
	DryRun bool     `json:"dry_run,omitempty"`
}

// DBGCRequest says what is old enough.
type DBGCRequest struct {
	DryRun    bool   `json:"dry_run,omitempty"`
	OlderThan string `json:"older_than,omitempty"` // a duration; "" means seven days
}

// DBGCView is what was freed, or would be.
type DBGCView struct {
	Path      string `json:"path"`
	DryRun    bool   `json:"dry_run,omitempty"`
	Blobs     Freed  `json:"blobs"`      // files
	Rows      Freed  `json:"rows"`       // blobs in the store; their place is used again
	BlobsLeft bool   `json:"blobs_left"` // a plan was being run, so they were left alone
	Sandboxes Freed  `json:"sandboxes"`  // of plans that have ended
	Bases     Freed  `json:"bases"`      // copies of resources that no open plan uses
	Temp      Freed  `json:"temp_files"` // what crashes left
}

// Freed is a number of things and the bytes that they took.
type Freed struct {
	Count int   `json:"count"`
	Bytes int64 `json:"bytes"`
}
