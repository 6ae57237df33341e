// Package bundle is one plan as one file: a tar archive in one zstd stream.
//
// First comes manifest.json (what the file is, and the size and hash of each
// table), then rows/<table>.jsonl in a fixed order, then, where they are
// wanted, blobs/<hash> in the order of their hashes, and end.json, without
// which the file is cut off. Read accepts exactly this: an entry that is not
// expected at its place is refused, so a name in the archive is compared and
// never used as a path. Everything is bounded, and checked before anybody
// stores a row: hashes, sizes, ids, numbers, and every reference between rows
// and from rows to blobs.
//
// It does not prove who made a file: whoever wrote it could write what they
// like, as long as it fits together.
package bundle

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/cleveragents/agents/decode"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
)

// What a file says about itself.
const (
	Format  = "agents.plan-export"
	Version = 1
)

// Bounds of a file, decoded.
const (
	maxManifest = 1 << 20
	maxRow      = 16 << 20
	maxTables   = 256 << 20 // of all tables together
	maxBlob     = 256 << 20
	maxBlobs    = 200_000
	maxTotal    = 8 << 30
	maxWindow   = 32 << 20 // memory of the decoder
)

// Manifest is what a file says about itself.
type Manifest struct {
	Format    string       `json:"format"`
	Version   int          `json:"version"`
	Plan      ident.PlanID `json:"plan"`
	Name      string       `json:"name"`
	Made      time.Time    `json:"made"`
	Artifacts bool         `json:"artifacts"` // the blobs are in the file
	Redacted  bool         `json:"redacted"`  // but for those of prompts and outputs
	Tables    []Table      `json:"tables"`
}

// Table is the rows of one kind.
type Table struct {
	Name  string `json:"name"`
	Rows  int    `json:"rows"`
	Bytes int    `json:"bytes"`
	Hash  string `json:"sha256"`
}

// End is the last entry.
type End struct {
	Blobs   int      `json:"blobs"`
	Missing []string `json:"missing,omitempty"` // named, and not in the store that the file was made from
}

const (
	manifestName = "manifest.json"
	endName      = "end.json"
	blobPrefix   = "blobs/"
)

func tableFile(name string) string { return "rows/" + name + ".jsonl" }

// labels is the one row of the table of labels.
type labels struct {
	Labels map[string]string `json:"labels"`
}

// table ties a list of a history to its file.
type table struct {
	name  string
	rows  func() int
	write func(line func(any) error) error
	read  func(what string, line []byte) error
}

func tableOf[T any](name string, list *[]T) table {
	return table{
		name: name,
		rows: func() int { return len(*list) },
		write: func(line func(any) error) error {
			for i := range *list {
				if err := line(&(*list)[i]); err != nil {
					return err
				}
			}
			return nil
		},
		read: func(what string, line []byte) error {
			var v T
			if err := strict(what, line, &v); err != nil {
				return err
			}
			*list = append(*list, v)
			return nil
		},
	}
}

// single is a table of exactly one row.
func single[T any](name string, v *T) table {
	rows := []T{*v}
	t := tableOf(name, &rows)
	read := t.read
	seen := false
	t.read = func(what string, line []byte) error {
		if seen {
			return fault.New(fault.Corrupt, "%s has more than one row", what)
		}
		seen = true
		rows = rows[:0]
		if err := read(what, line); err != nil {
			return err
		}
		*v = rows[0]
		return nil
	}
	return t
}

// tables are those of a history, in the order of the file.
func tables(h *engine.History, l *labels) []table {
	l.Labels = h.Labels
	return []table{
		single("plan", &h.Plan), single("labels", l),
		tableOf("resources", &h.Resources), tableOf("decisions", &h.Decisions), tableOf("influences", &h.Influences),
		tableOf("checkpoints", &h.Checkpoints), tableOf("calls", &h.Calls), tableOf("tool_calls", &h.ToolCalls),
		tableOf("hunks", &h.Hunks), tableOf("gaps", &h.Gaps), tableOf("results", &h.Results),
		tableOf("approvals", &h.Approvals), tableOf("events", &h.Events),
	}
}

// strict decodes one JSON value: no key twice, none that is not known.
func strict(what string, data []byte, v any) error {
	if _, err := decode.JSONValue(what, data); err != nil {
		return fault.New(fault.Corrupt, "%w", err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return fault.New(fault.Corrupt, "%s: %w", what, err)
	}
	return nil
}
