package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/cleveragents/agents/fault"
)

const manifestHead = "agents snapshot 1\n"

// encodeManifest writes sorted entries one a line: what two snapshots of the
// same bytes have in common, so no stamps.
//
//	f 0644 120 <hash> path
//	d 0755 path
//	l <hash> "target" path
//	s fifo path
func encodeManifest(es []entry) []byte {
	var b bytes.Buffer
	b.WriteString(manifestHead)
	for i := range es {
		e := &es[i]
		switch e.kind {
		case isFile:
			fmt.Fprintf(&b, "f %04o %d %s %s\n", e.mode, e.size, e.hash, e.path)
		case isDir:
			fmt.Fprintf(&b, "d %04o %s\n", e.mode, e.path)
		case isLink:
			fmt.Fprintf(&b, "l %s %s %s\n", e.hash, strconv.Quote(e.target), e.path)
		case isSpecial:
			fmt.Fprintf(&b, "s %s %s\n", e.what, e.path)
		}
	}
	return b.Bytes()
}

// parseManifest reads what encodeManifest wrote and refuses anything else.
func parseManifest(b []byte) ([]entry, error) {
	text, ok := strings.CutPrefix(string(b), manifestHead)
	if !ok || (text != "" && !strings.HasSuffix(text, "\n")) {
		return nil, fault.New(fault.Corrupt, "not a manifest of a snapshot")
	}
	es := make([]entry, 0, strings.Count(text, "\n"))
	last := ""
	for line := range strings.Lines(text) {
		e, ok := parseLine(strings.TrimSuffix(line, "\n"))
		if !ok || e.path <= last {
			return nil, fault.New(fault.Corrupt, "manifest of a snapshot: bad line %q", line)
		}
		last = e.path
		es = append(es, e)
	}
	return es, nil
}

func parseLine(line string) (e entry, ok bool) {
	k, rest, ok := strings.Cut(line, " ")
	if !ok || len(k) != 1 {
		return e, false
	}
	e.kind = kind(k[0])
	switch e.kind {
	case isFile:
		f := strings.SplitN(rest, " ", 4)
		if len(f) != 4 || !e.setMode(f[0]) || !e.setHash(f[2]) {
			return e, false
		}
		n, err := strconv.ParseInt(f[1], 10, 64)
		e.size, e.path = n, f[3]
		ok = err == nil && n >= 0
	case isDir:
		mode, p, _ := strings.Cut(rest, " ")
		e.path, ok = p, e.setMode(mode)
	case isLink:
		hash, q, _ := strings.Cut(rest, " ")
		quoted, err := strconv.QuotedPrefix(q)
		if err != nil || !e.setHash(hash) {
			return e, false
		}
		e.target, err = strconv.Unquote(quoted)
		e.size = int64(len(e.target))
		e.path, ok = strings.CutPrefix(q[len(quoted):], " ")
		ok = ok && err == nil
	case isSpecial:
		e.what, e.path, ok = strings.Cut(rest, " ")
		if e.what == "name" {
			return e, ok && e.path != ""
		}
	default:
		return e, false
	}
	return e, ok && safePath(e.path)
}

func (e *entry) setMode(s string) bool {
	n, err := strconv.ParseUint(s, 8, 32)
	e.mode = uint32(n)
	return err == nil && n <= 0o777
}

func (e *entry) setHash(s string) (ok bool) {
	e.hash, ok = digestOf(s)
	return ok
}

// safePath is checkPath but for .git, which a manifest lists as left out.
func safePath(p string) bool {
	if p == "" || p[0] == '/' || isOdd(p) {
		return false
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

// manifest reads the manifest of a snapshot from the blob store.
func (t *Trees) manifest(ctx context.Context, hash string) ([]entry, error) {
	b, err := t.cfg.Blobs.Get(ctx, hash)
	if err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", hash, err)
	}
	return parseManifest(b)
}
