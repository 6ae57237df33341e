package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/cleveragents/agents/fault"
)

func newStore(t testing.TB, limit int64) (*Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "blobs")
	s, err := open(dir, limit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, dir
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	if _, err := r.Read(b); err != nil {
		panic(err)
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	s, _ := newStore(t, MaxSize)
	rapid.Check(t, func(t *rapid.T) {
		bs := rapid.SliceOfN(rapid.SliceOf(rapid.ByteRange('a', 'c')), 0, 5).Draw(t, "blobs")
		hashes, err := s.PutAll(context.Background(), bs)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range bs {
			if want := hashOf(b); hashes[i] != want {
				t.Fatalf("hash of %q: got %s, want %s", b, hashes[i], want)
			}
			got, err := s.Get(context.Background(), hashes[i])
			if err != nil || !bytes.Equal(got, b) {
				t.Fatalf("got %q, %v, want %q", got, err, b)
			}
		}
	})
}

func TestCompressesOnlyWhatShrinks(t *testing.T) {
	text := bytes.Repeat([]byte("the same line again\n"), 20000)
	tests := []struct {
		name  string
		in    []byte
		codec byte
	}{
		{"empty", nil, codecRaw},
		{"short", []byte("short"), codecRaw},
		{"text", text[:5000], codecZstd},
		{"long text", text, codecZstd},
		{"noise", noise(5000), codecRaw},
		{"long noise", noise(300000), codecRaw},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, dir := newStore(t, MaxSize)
			hash, n, err := s.PutFrom(context.Background(), bytes.NewReader(tt.in))
			if err != nil || hash != hashOf(tt.in) || n != int64(len(tt.in)) {
				t.Fatalf("got %s, %d, %v", hash, n, err)
			}
			raw, err := os.ReadFile(filepath.Join(dir, place(hash)))
			if err != nil {
				t.Fatal(err)
			}
			if raw[0] != tt.codec {
				t.Errorf("codec: got %d, want %d", raw[0], tt.codec)
			}
			if limit := len(tt.in) + 1; len(raw) > limit {
				t.Errorf("takes %d bytes, want at most %d", len(raw), limit)
			}
			var out bytes.Buffer
			if err := s.GetTo(context.Background(), hash, &out); err != nil || !bytes.Equal(out.Bytes(), tt.in) {
				t.Errorf("GetTo: %d bytes, %v", out.Len(), err)
			}
			if again, err := s.Put(context.Background(), tt.in); err != nil || again != hash {
				t.Errorf("Put: %s, %v, want the hash of PutFrom", again, err)
			}
		})
	}
}

func TestPutLeavesWhatIsThere(t *testing.T) {
	s, dir := newStore(t, MaxSize)
	long := bytes.Repeat([]byte("x"), 100<<10)
	for _, b := range [][]byte{[]byte("short"), long} {
		hash, err := s.Put(context.Background(), b)
		if err != nil {
			t.Fatal(err)
		}
		before, err := os.Lstat(filepath.Join(dir, place(hash)))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.PutFrom(context.Background(), bytes.NewReader(b)); err != nil {
			t.Fatal(err)
		}
		after, err := os.Lstat(filepath.Join(dir, place(hash)))
		if err != nil || !os.SameFile(before, after) {
			t.Errorf("a blob that is there was written again (%v)", err)
		}
	}
	if got := files(t, dir); len(got) != 2 {
		t.Errorf("files: %v, want the two blobs", got)
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, d.Name())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// T32
func TestModes(t *testing.T) {
	s, dir := newStore(t, MaxSize)
	hash, err := s.Put(context.Background(), []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{"": 0o700, hash[:2]: 0o700, place(hash): 0o600} {
		fi, err := os.Lstat(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		if got := fi.Mode().Perm(); got != want {
			t.Errorf("mode of %q: got %o, want %o", path, got, want)
		}
	}
}

// T40
func TestDamage(t *testing.T) {
	text := bytes.Repeat([]byte("a line of text\n"), 9000)
	bomb := append([]byte{codecZstd}, encodeAll(t, make([]byte, 4<<20))...)
	tests := []struct {
		name   string
		damage func(raw []byte) []byte
	}{
		{"bit flip at the end", func(raw []byte) []byte { raw[len(raw)-1] ^= 1; return raw }},
		{"bit flip in the middle", func(raw []byte) []byte { raw[len(raw)/2] ^= 4; return raw }},
		{"other codec", func(raw []byte) []byte { raw[0] = 7; return raw }},
		{"codec swapped", func(raw []byte) []byte { raw[0] ^= 1; return raw }},
		{"truncated", func(raw []byte) []byte { return raw[:len(raw)/2] }},
		{"only the codec", func(raw []byte) []byte { return raw[:1] }},
		{"empty", func([]byte) []byte { return nil }},
		{"bomb", func([]byte) []byte { return bomb }},
	}
	for _, tt := range tests {
		for kind, b := range map[string][]byte{"zstd": text, "raw": noise(9000)} {
			t.Run(tt.name+" of "+kind, func(t *testing.T) {
				s, dir := newStore(t, 1<<20)
				hash, err := s.Put(context.Background(), b)
				if err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(dir, place(hash))
				raw, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, tt.damage(raw), 0o600); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Get(context.Background(), hash); !fault.Is(err, fault.Corrupt) {
					t.Errorf("Get: got %v, want Corrupt", err)
				}
				out := &counter{}
				if err := s.GetTo(context.Background(), hash, out); !fault.Is(err, fault.Corrupt) {
					t.Errorf("GetTo: got %v, want Corrupt", err)
				}
				if out.n > 1<<20+64<<10 {
					t.Errorf("GetTo gave %d bytes of a bomb", out.n)
				}
			})
		}
	}
}

type counter struct{ n int }

func (c *counter) Write(p []byte) (int, error) { c.n += len(p); return len(p), nil }

func encodeAll(t *testing.T, b []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(b, nil)
}

func TestRefusals(t *testing.T) {
	s, _ := newStore(t, 100)
	ctx, stop := context.WithCancel(context.Background())
	stop()
	broken := errors.New("broken")
	tests := []struct {
		name string
		do   func() error
		want fault.Kind
	}{
		{"not there", func() error { _, err := s.Get(context.Background(), hashOf(nil)); return err }, fault.NotFound},
		{"path as hash", func() error { _, err := s.Get(context.Background(), "../../../etc/passwd"); return err }, fault.Invalid},
		{"capitals", func() error {
			_, err := s.Get(context.Background(), strings.ToUpper(hashOf([]byte("x"))))
			return err
		}, fault.Invalid},
		{"too large", func() error { _, err := s.Put(context.Background(), make([]byte, 101)); return err }, fault.Exhausted},
		{"stream too large", func() error {
			_, _, err := s.PutFrom(context.Background(), io.LimitReader(zeros{}, 200<<10))
			return err
		}, fault.Exhausted},
		{"cancelled put", func() error { _, err := s.Put(ctx, []byte("x")); return err }, fault.Cancelled},
		{"cancelled get", func() error { _, err := s.Get(ctx, hashOf(nil)); return err }, fault.Cancelled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.do(); !fault.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
	big := io.MultiReader(io.LimitReader(zeros{}, 70<<10), failing{broken})
	if _, _, err := s.PutFrom(context.Background(), big); err == nil {
		t.Error("a stream that breaks was stored")
	}
	if got := files(t, s.root.Name()); len(got) != 0 {
		t.Errorf("refused blobs left %v", got)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestSeveralStoresOnOneDirectory(t *testing.T) {
	a, dir := newStore(t, MaxSize)
	b, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	// Both number their temp files from one within one process id, so they
	// try the same names all the time.
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for w := range errs {
		wg.Go(func() {
			s := []*Store{a, b}[w%2]
			for i := range 50 {
				want := fmt.Appendf(nil, "%d %s", i, strings.Repeat("z", i*40))
				hash, err := s.Put(context.Background(), want)
				if err != nil {
					errs[w] = err
					return
				}
				if got, err := s.Get(context.Background(), hash); err != nil || !bytes.Equal(got, want) {
					errs[w] = fmt.Errorf("got %q, %w", got, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if got := len(files(t, dir)); got != 50 {
		t.Errorf("%d files, want 50 blobs and no temp file", got)
	}
}

func TestLargeBatch(t *testing.T) {
	s, dir := newStore(t, MaxSize)
	var bs [][]byte
	for i := range 3*batchMax + 1 {
		bs = append(bs, fmt.Appendf(nil, "blob %d", i))
	}
	hashes, err := s.PutAll(context.Background(), bs)
	if err != nil {
		t.Fatal(err)
	}
	for i, hash := range hashes {
		if got, err := s.Get(context.Background(), hash); err != nil || !bytes.Equal(got, bs[i]) {
			t.Fatalf("blob %d: got %q, %v", i, got, err)
		}
	}
	if got := len(files(t, dir)); got != len(bs) {
		t.Errorf("%d files, want %d", got, len(bs))
	}
}

func TestSweep(t *testing.T) {
	s, dir := newStore(t, MaxSize)
	hash, err := s.Put(context.Background(), []byte("kept"))
	if err != nil {
		t.Fatal(err)
	}
	old, young := filepath.Join(dir, "00", tempPrefix+"1-1"), filepath.Join(dir, "ff", tempPrefix+"1-2")
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for path, mtime := range map[string]time.Time{old: at, young: at.Add(2 * time.Hour)} {
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, mtime, mtime); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := s.Sweep(context.Background(), at.Add(time.Hour)); n != 1 || err != nil {
		t.Errorf("got %d, %v, want 1", n, err)
	}
	if diff := cmp.Diff([]string{hash, tempPrefix + "1-2"}, files(t, dir), cmp.Transformer("set", func(in []string) map[string]bool {
		out := map[string]bool{}
		for _, s := range in {
			out[s] = true
		}
		return out
	})); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkPut(b *testing.B) {
	line := []byte("a line of a source file, number ")
	for _, size := range []int{1 << 10, 100 << 10} {
		for _, n := range []int{1, 6} {
			b.Run(fmt.Sprintf("%dx%dKB", n, size>>10), func(b *testing.B) {
				s, _ := newStore(b, MaxSize)
				i := 0
				for b.Loop() {
					bs := make([][]byte, n)
					for k := range bs {
						i++
						for len(bs[k]) < size {
							bs[k] = fmt.Appendf(bs[k], "%s%d of %d\n", line, len(bs[k])*7919, i)
						}
					}
					if _, err := s.PutAll(context.Background(), bs); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
	b.Run("there", func(b *testing.B) {
		s, _ := newStore(b, MaxSize)
		for b.Loop() {
			if _, err := s.Put(context.Background(), line); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkGet100KB(b *testing.B) {
	s, _ := newStore(b, MaxSize)
	hash, err := s.Put(context.Background(), bytes.Repeat([]byte("a line of a source file\n"), 4267))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Get(context.Background(), hash); err != nil {
			b.Fatal(err)
		}
	}
}
