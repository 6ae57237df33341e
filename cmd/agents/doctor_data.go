package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/a2a/local"
	"github.com/cleveragents/agents/blob"
	"github.com/cleveragents/agents/durable"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/store/sqlite"
)

// openStore opens the database as every command does and reads all of it.
func (c *checkup) openStore(ctx context.Context) {
	db, err := sqlite.Open(ctx, c.paths.Store, sqlite.Options{})
	if err != nil {
		c.problem("store", err, "see that "+c.dir+" is yours and can be written")
		return
	}
	c.db = db
	c.stats, err = db.Status(ctx)
	switch {
	case err != nil:
		c.problem("store", err, "agents db status --check")
	case len(c.stats.Problems) > 0:
		c.add(a2a.Finding{
			Name: "store", Level: "problem", Detail: c.stats.Where + ": " + c.stats.Problems[0],
			Fix: "restore the file from a backup; nothing was deleted",
		})
	default:
		c.ok("store", "%s, schema %d, %d bytes", c.stats.Where, c.stats.Schema, c.stats.Bytes)
	}
}

// openBlobs writes one blob and reads it back.
func (c *checkup) openBlobs(ctx context.Context) {
	var rows blob.Rows
	if c.db != nil {
		rows = c.db
	}
	s, err := blob.Open(c.paths.Blobs, rows)
	if err != nil {
		c.problem("blobs", err, "see that "+c.paths.Blobs+" is a directory of yours that can be written")
		return
	}
	c.blobs = s
	fixed := ""
	if n := s.MissingDirs(); n > 0 {
		if !c.fix {
			c.add(a2a.Finding{
				Name: "blobs", Level: "problem", Fix: "agents doctor --fix",
				Detail: fmt.Sprintf("%d of the directories in %s are missing: what belongs there cannot be stored", n, c.paths.Blobs),
			})
			return
		}
		if err := s.MakeDirs(); err != nil {
			c.problem("blobs", err, "free space, or make "+c.paths.Blobs+" writable")
			return
		}
		fixed = fmt.Sprintf("made %d directories", n)
	}
	hash, err := s.Mend(ctx, []byte("doctor\n"))
	if err != nil {
		c.problem("blobs", err, "free space, or make "+c.paths.Blobs+" writable")
		return
	}
	if _, err := s.Get(ctx, hash); err != nil {
		c.problem("blobs", err, "check the disk that holds "+c.paths.Blobs)
		return
	}
	c.add(a2a.Finding{Name: "blobs", Level: "ok", Detail: c.paths.Blobs, Fixed: fixed})
}

// openPlans looks whether the plans that can still go on have lost something.
func (c *checkup) openPlans(ctx context.Context) {
	if c.db == nil || c.blobs == nil || c.has("store") {
		return // that is said already
	}
	e := &engine.Engine{Config: engine.Config{Store: c.db, Blobs: c.blobs}}
	v, err := local.Blobs(ctx, e, true, local.SampleBlobs)
	if err != nil {
		c.problem("plans", err, "agents db status --check")
		return
	}
	if len(v.Hurt) == 0 {
		read := "all"
		if v.Sampled {
			read = "a sample"
		}
		c.ok("plans", "%d can go on; %s of their blobs read", v.Plans, read)
		return
	}
	var all []string
	for _, h := range v.Hurt {
		all = append(all, fmt.Sprintf("%s (%d missing, %d damaged)", h.ID, h.Missing, h.Damaged))
	}
	c.add(a2a.Finding{
		Name: "plans", Level: "problem", Detail: "blobs are lost that these plans name: " + strings.Join(all, ", "),
		Fix: "take the blobs back from a copy of " + c.paths.Blobs + ", or give the plan up and use its action again: agents plan cancel " + string(v.Hurt[0].ID),
	})
}

// workflows reads the workflow engine's file.
func (c *checkup) workflows(ctx context.Context) {
	if err := durable.Check(ctx, c.paths.Engine); err != nil {
		c.problem("workflows", err, "see that "+c.paths.Engine+" can be read and written")
		return
	}
	c.ok("workflows", "%s", c.paths.Engine)
}
