package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/store"
)

// bundle writes the report for others, as a tar archive in gzip: versions,
// findings, and the schema with how many rows each table has. No row, file name
// of a project or setting is in it, so nothing has to be taken out of it but
// the home directory in the paths of the data.
func (c *checkup) bundle(to io.Writer) error {
	tables := c.stats.Tables
	if tables == nil {
		tables = []store.TableCount{}
	}
	files := []struct {
		name string
		v    any
	}{
		{"about.json", map[string]any{
			"version": version(), "os": runtime.GOOS, "arch": runtime.GOARCH, "cpus": runtime.NumCPU(),
			"made": c.now().UTC().Format(time.RFC3339),
		}},
		{"findings.json", c.named()},
		{"store.json", map[string]any{
			"opened": c.db != nil, "schema": c.stats.Schema, "latest": c.stats.Latest, "bytes": c.stats.Bytes,
			"tables": tables, "problems": c.stats.Problems,
		}},
	}
	z := gzip.NewWriter(to)
	w := tar.NewWriter(z)
	for _, f := range files {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(f.v); err != nil {
			return fault.New(fault.Internal, "report: %w", err)
		}
		h := &tar.Header{Name: "agents-report/" + f.name, Mode: 0o600, Size: int64(b.Len()), Typeflag: tar.TypeReg, ModTime: c.now()}
		if err := w.WriteHeader(h); err != nil {
			return unwritten(err)
		}
		if _, err := w.Write(b.Bytes()); err != nil {
			return unwritten(err)
		}
	}
	if err := w.Close(); err != nil {
		return unwritten(err)
	}
	if err := z.Close(); err != nil {
		return unwritten(err)
	}
	return nil
}

func unwritten(err error) error { return fault.New(fault.Unavailable, "write the report: %w", err) }

// named are the findings with ~ for the home directory.
func (c *checkup) named() []a2a.Finding {
	out := make([]a2a.Finding, len(c.found))
	for i, f := range c.found {
		for _, text := range []*string{&f.Detail, &f.Fix, &f.Fixed} {
			if len(c.home) > 1 { // "/" would be in every path
				*text = strings.ReplaceAll(*text, c.home, "~")
			}
		}
		out[i] = f
	}
	return out
}
