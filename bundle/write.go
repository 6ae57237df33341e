package bundle

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
)

// Options are what goes into a file.
type Options struct {
	Artifacts bool // the blobs, too
	Redact    bool // no blobs and no texts of prompts and outputs; their hashes stay
	Made      time.Time
}

// Write writes a history to w; get reads a blob. It tells what went in.
func Write(ctx context.Context, w io.Writer, h engine.History, o Options, get func(context.Context, string) ([]byte, error)) (Manifest, End, error) {
	blobs := namesOf(h) // as recorded: redacting leaves every hash
	if o.Redact {
		h = redacted(h)
	}
	m := Manifest{
		Format: Format, Version: Version, Plan: h.Plan.ID, Name: h.Plan.Name, Made: o.Made.UTC(),
		Artifacts: o.Artifacts, Redacted: o.Redact,
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return m, End{}, fault.New(fault.Internal, "bundle encoder: %w", err)
	}
	out := &writer{t: tar.NewWriter(z)}
	var l labels
	var files []bytes.Buffer
	total := 0
	for _, t := range tables(&h, &l) {
		var b bytes.Buffer
		err := t.write(func(row any) error {
			line, err := json.Marshal(row)
			if err == nil && len(line) > maxRow {
				err = fault.New(fault.Exhausted, "a row of %s has %d bytes, at most %d", t.name, len(line), maxRow)
			}
			b.Write(append(line, '\n'))
			return err
		})
		if err != nil {
			return m, End{}, err
		}
		if total += b.Len(); total > maxTables {
			return m, End{}, fault.New(fault.Exhausted, "the rows of the plan have more than %d bytes", maxTables)
		}
		m.Tables = append(m.Tables, Table{Name: t.name, Rows: t.rows(), Bytes: b.Len(), Hash: evidence.Hash(b.Bytes())})
		files = append(files, b)
	}
	out.json(manifestName, m)
	for i, t := range m.Tables {
		out.entry(tableFile(t.Name), files[i].Bytes())
	}
	end := End{}
	if o.Artifacts {
		if end, err = out.blobs(ctx, blobs, o.Redact, get); err != nil {
			return m, end, err
		}
	}
	out.json(endName, end)
	if out.err == nil {
		out.err = out.t.Close()
	}
	if err := z.Close(); out.err == nil {
		out.err = err
	}
	if out.err != nil {
		return m, end, fault.New(fault.Internal, "write the export: %w", out.err)
	}
	return m, end, nil
}

// writer keeps the first error.
type writer struct {
	t   *tar.Writer
	err error
}

func (w *writer) entry(name string, b []byte) {
	if w.err != nil {
		return
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(b)), Mode: 0o600, Format: tar.FormatPAX}
	if w.err = w.t.WriteHeader(h); w.err == nil {
		_, w.err = w.t.Write(b)
	}
}

func (w *writer) json(name string, v any) {
	b, err := json.Marshal(v)
	if w.err == nil {
		w.err = err
	}
	w.entry(name, b)
}

// blobs writes the blobs that the rows name and those that the manifests among
// them name, by hash.
func (w *writer) blobs(ctx context.Context, n names, redact bool, get func(context.Context, string) ([]byte, error)) (End, error) {
	all, missing := map[string]bool{}, map[string]bool{}
	queue := n.wanted(redact)
	for i := 0; i < len(queue); i++ {
		hash := queue[i]
		if all[hash] || missing[hash] {
			continue
		}
		if !n.manifests[hash] {
			all[hash] = true
			continue
		}
		b, err := get(ctx, hash)
		if fault.Is(err, fault.NotFound) {
			missing[hash] = true
			continue
		}
		if err != nil {
			return End{}, err
		}
		all[hash] = true
		queue = append(queue, inManifest(b)...)
	}
	if len(all) > maxBlobs {
		return End{}, fault.New(fault.Exhausted, "the plan names %d blobs, an export holds at most %d", len(all), maxBlobs)
	}
	end := End{}
	for _, hash := range slices.Sorted(maps.Keys(all)) {
		b, err := get(ctx, hash)
		switch {
		case fault.Is(err, fault.NotFound):
			missing[hash] = true
			continue
		case err != nil:
			return end, err
		case len(b) > maxBlob:
			return end, fault.New(fault.Exhausted, "blob %s has %d bytes, an export holds at most %d", hash, len(b), maxBlob)
		}
		w.entry(blobPrefix+hash, b)
		end.Blobs++
	}
	end.Missing = slices.Sorted(maps.Keys(missing))
	return end, nil
}
