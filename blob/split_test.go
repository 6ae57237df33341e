package blob

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
)

// rows is a table in memory.
type rows map[string][]byte

func (r rows) Blob(_ context.Context, hash string) ([]byte, error) {
	b, ok := r[hash]
	if !ok {
		return nil, fault.New(fault.NotFound, "no row %s", hash)
	}
	return b, nil
}

// What is small comes back for a row, what is large is a file at once, and both
// are found by Get and GetTo.
func TestSplit(t *testing.T) {
	table := rows{}
	dir := t.TempDir()
	s, err := Open(dir, table)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	in := map[string][]byte{}
	wantRow := map[string]bool{}
	for _, c := range []struct {
		b   []byte
		row bool
	}{
		{nil, true}, {[]byte("a"), true}, {bytes.Repeat([]byte("text "), 100_000), true}, // it packs well
		{noise(rowMax - 1), true}, {noise(rowMax), false}, {noise(1 << 20), false},
		{bytes.Repeat([]byte{7}, 16*rowMax+1), false}, // not even tried
	} {
		in[hashOf(c.b)] = c.b
		wantRow[hashOf(c.b)] = c.row
	}
	small, err := s.Split(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for _, b := range small {
		if b.Hash <= last {
			t.Errorf("blob %s after %s", b.Hash, last)
		}
		last = b.Hash
		table[b.Hash] = b.Data
	}
	for hash, want := range in {
		_, err := os.Lstat(filepath.Join(dir, hash[:2], hash))
		if isFile, isRow := err == nil, table[hash] != nil; isFile == isRow || isRow != wantRow[hash] {
			t.Errorf("%d bytes: file %t, row %t, want row %t", len(want), isFile, isRow, wantRow[hash])
		}
		got, err := s.Get(t.Context(), hash)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: got %d and error %v", len(want), len(got), err)
		}
		var w bytes.Buffer
		if err := s.GetTo(t.Context(), hash, &w); err != nil || !bytes.Equal(w.Bytes(), want) {
			t.Errorf("%d bytes: written %d and error %v", len(want), w.Len(), err)
		}
	}
}

func TestSplitWithoutRows(t *testing.T) {
	s, _ := newStore(t, MaxSize)
	b := []byte("small")
	small, err := s.Split(t.Context(), map[string][]byte{hashOf(b): b})
	if err != nil || len(small) > 0 {
		t.Fatalf("got %d blobs for rows and error %v, want none", len(small), err)
	}
	if got, err := s.Get(t.Context(), hashOf(b)); err != nil || !bytes.Equal(got, b) {
		t.Errorf("got %q and error %v", got, err)
	}
}

func TestRowsThatAreWrong(t *testing.T) {
	table := rows{}
	s, err := Open(t.TempDir(), table)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	h := hashOf([]byte("right"))
	for _, c := range []struct {
		name string
		data []byte
		want fault.Kind
	}{
		{"no row", nil, fault.NotFound},
		{"empty", []byte{}, fault.Corrupt},
		{"other bytes", []byte("\x00wrong"), fault.Corrupt},
		{"unknown codec", []byte("\x07right"), fault.Corrupt},
		{"not zstd", []byte("\x01right"), fault.Corrupt},
	} {
		delete(table, h)
		if c.data != nil {
			table[h] = c.data
		}
		if _, err := s.Get(t.Context(), h); !fault.Is(err, c.want) {
			t.Errorf("%s: got error %v, want %s", c.name, err, c.want)
		}
	}
	for _, bad := range []map[string][]byte{{"../x": []byte("a")}, {"": nil}} {
		if _, err := s.Split(t.Context(), bad); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
	var none []engine.SmallBlob
	if got, err := s.Split(t.Context(), nil); err != nil || len(got) != len(none) {
		t.Errorf("nothing: got %v and error %v", got, err)
	}
}
