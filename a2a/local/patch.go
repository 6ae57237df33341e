package local

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// maxPatch bounds what a patch holds in memory.
const maxPatch = 256 << 20

// patch writes changes in git's form: text as a unified diff, everything else
// whole, and back.
func (f *Facade) patch(ctx context.Context, set plan.ChangeSet) ([]byte, error) {
	var out bytes.Buffer
	for _, c := range set {
		for _, half := range halves(c) {
			before, err := f.whole(ctx, half.Before)
			if err != nil {
				return nil, err
			}
			after, err := f.whole(ctx, half.After)
			if err != nil {
				return nil, err
			}
			if err := writePatch(&out, half, before, after); err != nil {
				return nil, err
			}
			if out.Len() > maxPatch {
				return nil, fault.New(fault.Exhausted, "the patch is larger than %d bytes", maxPatch).
					WithHint("take part of it: --only PATH")
			}
		}
	}
	return out.Bytes(), nil
}

// halves makes two changes of one that turns a file into a link or back, as git
// does.
func halves(c plan.Change) []plan.Change {
	none := plan.FileState{Kind: plan.Absent}
	if c.Before.Kind == plan.Other {
		c.Before = none
	}
	if c.Before.Kind == plan.Absent || c.After.Kind == plan.Absent || c.Before.Kind == c.After.Kind {
		return []plan.Change{c}
	}
	gone, made := c, c
	gone.After, made.Before = none, none
	return []plan.Change{gone, made}
}

func (f *Facade) whole(ctx context.Context, s plan.FileState) ([]byte, error) {
	if s.Kind != plan.Regular && s.Kind != plan.Symlink {
		return nil, nil
	}
	return f.Engine.Blobs.Get(ctx, s.Hash)
}

// gitMode is what git keeps of a mode: whether it is a program.
func gitMode(s plan.FileState) string {
	switch {
	case s.Kind == plan.Symlink:
		return "120000"
	case s.Mode&0o100 != 0:
		return "100755"
	}
	return "100644"
}

func writePatch(out *bytes.Buffer, c plan.Change, before, after []byte) error {
	a, b := quoted("a/"+c.Path), quoted("b/"+c.Path)
	fmt.Fprintf(out, "diff --git %s %s\n", a, b)
	was, is := c.Before.Kind != plan.Absent, c.After.Kind != plan.Absent
	switch {
	case !was:
		fmt.Fprintf(out, "new file mode %s\n", gitMode(c.After))
		a = "/dev/null"
	case !is:
		fmt.Fprintf(out, "deleted file mode %s\n", gitMode(c.Before))
		b = "/dev/null"
	case gitMode(c.Before) != gitMode(c.After):
		fmt.Fprintf(out, "old mode %s\nnew mode %s\n", gitMode(c.Before), gitMode(c.After))
	}
	if bytes.Equal(before, after) && was && is {
		return nil
	}
	fmt.Fprintf(out, "index %s..%s\n", blobID(was, before), blobID(is, after))
	if len(before)+len(after) == 0 {
		return nil
	}
	if opaque(before) || opaque(after) {
		out.WriteString("GIT binary patch\n")
		if err := literal(out, after); err != nil {
			return err
		}
		return literal(out, before)
	}
	text := udiff.Unified("old", "new", string(before), string(after))
	_, text, _ = strings.Cut(text, "\n")
	_, text, _ = strings.Cut(text, "\n")
	fmt.Fprintf(out, "--- %s\n+++ %s\n%s", tabbed(a), tabbed(b), text)
	return nil
}

// opaque reports bytes that a diff by lines would not carry exactly.
func opaque(b []byte) bool { return len(b) > maxDiff || isBinary(b) }

// blobID is the name that git gives to the bytes of a file.
func blobID(there bool, b []byte) string {
	if !there {
		return strings.Repeat("0", 40)
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(b))
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil))
}

// literal writes bytes whole, packed and in git's 85 letters.
func literal(out *bytes.Buffer, b []byte) error {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write(b); err != nil {
		return fault.New(fault.Internal, "pack: %w", err)
	}
	if err := z.Close(); err != nil {
		return fault.New(fault.Internal, "pack: %w", err)
	}
	fmt.Fprintf(out, "literal %d\n", len(b))
	const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
	for rest := packed.Bytes(); len(rest) > 0; {
		line := rest[:min(52, len(rest))]
		rest = rest[len(line):]
		if len(line) <= 26 {
			out.WriteByte(byte('A' + len(line) - 1))
		} else {
			out.WriteByte(byte('a' + len(line) - 27))
		}
		for len(line) > 0 {
			var four [4]byte
			line = line[copy(four[:], line):]
			n := binary.BigEndian.Uint32(four[:])
			var five [5]byte
			for i := len(five) - 1; i >= 0; i-- {
				five[i] = letters[n%85]
				n /= 85
			}
			out.Write(five[:])
		}
		out.WriteByte('\n')
	}
	out.WriteByte('\n')
	return nil
}

// quoted writes a path as git does when a line could not hold it as it is.
func quoted(p string) string {
	if !strings.ContainsFunc(p, func(r rune) bool { return r < 0x20 || r == '"' || r == '\\' || r == 0x7f }) {
		return p
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(p) {
		switch c := p[i]; {
		case c == '"', c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c == 0x7f:
			b.WriteString(`\` + fmt.Sprintf("%03s", strconv.FormatUint(uint64(c), 8)))
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}

// tabbed ends a name that holds a space, so that it is not cut there.
func tabbed(p string) string {
	if strings.Contains(p, " ") && !strings.HasPrefix(p, `"`) {
		return p + "\t"
	}
	return p
}
