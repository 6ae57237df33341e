package bundle

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
)

// Bundle is a file that was read and checked.
type Bundle struct {
	Manifest Manifest
	History  engine.History
	End      End
}

// Read reads a whole file and checks it: its form, its hashes, its rows and all
// that they refer to. Blob, when set, is given each blob, whose hash is right;
// it is called before the whole file is known to be good, so a first Read
// without it looks whether a second one may store them. What is wrong with the
// file is fault.Corrupt, and what is too large fault.Exhausted.
func Read(r io.Reader, blob func(hash string, b []byte) error) (Bundle, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return Bundle{}, fault.New(fault.Internal, "bundle decoder: %w", err)
	}
	defer z.Close()
	in := &reader{t: tar.NewReader(&meter{r: z, left: maxTotal})}
	b, err := in.bundle(blob)
	if err != nil {
		return Bundle{}, err
	}
	return b, nil
}

// meter ends a stream that decodes to more than is allowed.
type meter struct {
	r    io.Reader
	left int64
}

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, fault.New(fault.Exhausted, "the file decodes to more than %d bytes", int64(maxTotal))
	}
	n, err := m.r.Read(p[:min(int64(len(p)), m.left)])
	m.left -= int64(n)
	return n, err
}

type reader struct {
	t *tar.Reader
}

// next goes to the next entry.
func (r *reader) next() (*tar.Header, error) {
	h, err := r.t.Next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, fault.New(fault.Corrupt, "the file is cut off: it has no %s", endName)
	case err != nil:
		return nil, damaged(err)
	case h.Typeflag != tar.TypeReg:
		return nil, fault.New(fault.Corrupt, "entry %.80q is not a plain file", h.Name)
	case h.Size < 0:
		return nil, fault.New(fault.Corrupt, "entry %.80q has the size %d", h.Name, h.Size)
	}
	return h, nil
}

func damaged(err error) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return err
	}
	return fault.New(fault.Corrupt, "this is no export of a plan, or it is damaged: %w", err)
}

// all reads the entry, which may have at most so many bytes.
func (r *reader) all(h *tar.Header, most int64) ([]byte, error) {
	if h.Size > most {
		return nil, fault.New(fault.Exhausted, "entry %.80q has %d bytes, at most %d", h.Name, h.Size, most)
	}
	var b bytes.Buffer // grows with what is there, not with what is claimed
	if _, err := io.Copy(&b, io.LimitReader(r.t, most)); err != nil {
		return nil, damaged(err)
	}
	return b.Bytes(), nil
}

func (r *reader) bundle(blob func(string, []byte) error) (b Bundle, err error) {
	if b.Manifest, err = r.manifest(); err != nil {
		return b, err
	}
	m := b.Manifest
	var l labels
	left := int64(maxTables)
	all := tables(&b.History, &l)
	if len(m.Tables) != len(all) {
		return b, fault.New(fault.Corrupt, "the manifest lists %d tables, not %d", len(m.Tables), len(all))
	}
	for i, t := range all {
		if m.Tables[i].Name != t.name {
			return b, fault.New(fault.Corrupt, "table %d is %.80q, not %s", i+1, m.Tables[i].Name, t.name)
		}
		if err := r.table(t, m.Tables[i], &left); err != nil {
			return b, err
		}
	}
	b.History.Labels = l.Labels
	if b.History.Plan.ID != m.Plan {
		return b, fault.New(fault.Corrupt, "the manifest is of plan %.80q, the rows are of %.80q", string(m.Plan), string(b.History.Plan.ID))
	}
	if err := check(b.History); err != nil {
		return b, err
	}
	b.End, err = r.blobs(m, namesOf(b.History), blob)
	return b, err
}

func (r *reader) manifest() (m Manifest, err error) {
	h, err := r.next()
	if err != nil {
		return m, err
	}
	if h.Name != manifestName {
		return m, fault.New(fault.Corrupt, "this is no export of a plan: it begins with %.80q", h.Name)
	}
	text, err := r.all(h, maxManifest)
	if err != nil {
		return m, err
	}
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := jsonHead(text, &head); err != nil || head.Format != Format {
		return m, fault.New(fault.Corrupt, "this is no export of a plan: its format is %.80q", head.Format)
	}
	if head.Version != Version {
		return m, fault.New(fault.Unavailable, "the export has version %d, this program reads %d", head.Version, Version).
			WithHint("use the version of agents that wrote it, or a newer one")
	}
	return m, strict(manifestName, text, &m)
}

// table reads one table, line by line, and compares it with the manifest.
func (r *reader) table(t table, want Table, left *int64) error {
	h, err := r.next()
	if err != nil {
		return err
	}
	file := tableFile(t.name)
	if h.Name != file {
		return fault.New(fault.Corrupt, "%s is expected, and %.80q is there", file, h.Name)
	}
	text, err := r.all(h, *left)
	if err != nil {
		return err
	}
	*left -= int64(len(text))
	if len(text) != want.Bytes || sum(text) != want.Hash {
		return fault.New(fault.Corrupt, "%s is not what the manifest says", file)
	}
	rows := 0
	for line := range bytes.Lines(text) {
		rows++
		if len(line) > maxRow {
			return fault.New(fault.Exhausted, "%s: row %d has %d bytes, at most %d", file, rows, len(line), maxRow)
		}
		if err := t.read(file, bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return fault.New(fault.Corrupt, "row %d: %w", rows, err)
		}
	}
	if rows != want.Rows || (t.name == "plan" || t.name == "labels") && rows != 1 {
		return fault.New(fault.Corrupt, "%s has %d rows", file, rows)
	}
	return nil
}

// blobs reads the blobs and the end, and checks that they are those that the
// rows and the manifests among them name.
func (r *reader) blobs(m Manifest, n names, blob func(string, []byte) error) (end End, err error) {
	found, named, last := map[string]bool{}, map[string]bool{}, ""
	for {
		h, err := r.next()
		if err != nil {
			return end, err
		}
		if h.Name == endName {
			text, err := r.all(h, maxManifest*16)
			if err != nil {
				return end, err
			}
			if err := strict(endName, text, &end); err != nil {
				return end, err
			}
			break
		}
		hash, ok := strings.CutPrefix(h.Name, blobPrefix)
		switch {
		case !ok || !isHash(hash) || hash <= last:
			return end, fault.New(fault.Corrupt, "%.80q is not expected here", h.Name)
		case !m.Artifacts:
			return end, fault.New(fault.Corrupt, "there are blobs, and the manifest says that there are none")
		case len(found) >= maxBlobs:
			return end, fault.New(fault.Exhausted, "there are more than %d blobs", maxBlobs)
		}
		last, found[hash] = hash, true
		if err := r.blob(h, hash, n.manifests[hash], named, blob); err != nil {
			return end, err
		}
	}
	if _, err := r.t.Next(); !errors.Is(err, io.EOF) {
		return end, fault.New(fault.Corrupt, "there is more after %s", endName)
	}
	return end, complete(m, n, found, named, end)
}

// blob reads one blob. What a manifest names is added to named.
func (r *reader) blob(h *tar.Header, hash string, isManifest bool, named map[string]bool, blob func(string, []byte) error) error {
	if h.Size > maxBlob {
		return fault.New(fault.Exhausted, "blob %s has %d bytes, at most %d", hash, h.Size, maxBlob)
	}
	if blob == nil && !isManifest { // only looked at: it need not be in memory
		s := sha256.New()
		if _, err := io.Copy(s, r.t); err != nil {
			return damaged(err)
		}
		if hex.EncodeToString(s.Sum(nil)) != hash {
			return fault.New(fault.Corrupt, "blob %s holds something else", hash)
		}
		return nil
	}
	b, err := r.all(h, maxBlob)
	if err != nil {
		return err
	}
	if sum(b) != hash {
		return fault.New(fault.Corrupt, "blob %s holds something else", hash)
	}
	if isManifest {
		for _, other := range inManifest(b) {
			if len(named) > maxBlobs {
				return fault.New(fault.Exhausted, "there are more than %d blobs", maxBlobs)
			}
			named[other] = true
		}
	}
	if blob == nil {
		return nil
	}
	return blob(hash, b)
}

// complete checks that all blobs are there that must be, and no others.
func complete(m Manifest, n names, found, named map[string]bool, end End) error {
	if len(found) != end.Blobs {
		return fault.New(fault.Corrupt, "there are %d blobs, and %s says %d", len(found), endName, end.Blobs)
	}
	if !m.Artifacts {
		return nil
	}
	missing := map[string]bool{}
	for _, hash := range end.Missing {
		missing[hash] = true
	}
	for _, hash := range n.wanted(m.Redacted) {
		if !found[hash] && !missing[hash] {
			return fault.New(fault.Corrupt, "blob %s is named and is not there", hash)
		}
		named[hash] = true
	}
	for hash := range found {
		if !named[hash] {
			return fault.New(fault.Corrupt, "blob %s is there, and nothing names it", hash)
		}
	}
	return nil
}
