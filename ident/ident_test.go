package ident_test

import (
	"bytes"
	"crypto/sha256"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
)

func TestParseName(t *testing.T) {
	long := strings.Repeat("a", 64)
	for in, want := range map[string]ident.Name{
		"x":               {Namespace: "local", Base: "x"},
		"local/x":         {Namespace: "local", Base: "x"},
		"team/fix-bug":    {Namespace: "team", Base: "fix-bug"},
		"prod:team/a.b_c": {Server: "prod", Namespace: "team", Base: "a.b_c"},
		"0/0":             {Namespace: "0", Base: "0"},
		long + "/" + long: {Namespace: long, Base: long},
	} {
		got, err := ident.ParseName(in)
		if err != nil || got != want {
			t.Errorf("%q: got %+v, %v, want %+v", in, got, err, want)
		}
		if again, err := ident.ParseName(got.String()); err != nil || again != got {
			t.Errorf("%q: the full form %q reads back as %+v, %v", in, got, again, err)
		}
		if full, err := ident.Canonical(in); err != nil || full != want.String() {
			t.Errorf("Canonical(%q): got %q, %v", in, full, err)
		}
	}
	for in, part := range map[string]string{
		"":                `the name ""`,
		"X":               `the name "X"`,
		"a b":             `the name "a b"`,
		"-a":              `the name "-a"`,
		"a-":              `the name "a-"`,
		"a\n":             `the name "a\n"`,
		"..":              `the name ".."`,
		"a/":              `the name ""`,
		"/a":              `the namespace ""`,
		"a/b/c":           `the name "b/c"`,
		"s:":              "a server needs a namespace",
		"s:a":             "a server needs a namespace",
		":a/b":            `the server ""`,
		"s:t:a/b":         `the namespace "t:a"`,
		"S:a/b":           `the server "S"`,
		"a/\u0435":        `the name "е"`, // Cyrillic
		long + "a":        `the name "` + long,
		"a/" + long + "a": `the name "` + long,
	} {
		_, err := ident.ParseName(in)
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: got %v, want Invalid with %s", in, err, part)
		}
		if _, err := ident.Canonical(in); err == nil {
			t.Errorf("Canonical(%q) is accepted", in)
		}
	}
}

func FuzzParseName(f *testing.F) {
	for _, s := range []string{"x", "a/b", "s:a/b", "s:a", "A", "a//b", "a:b:c/d", "é", "a/b\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ident.ParseName(s)
		if err != nil {
			return
		}
		if len(s) > 3*64+2 {
			t.Errorf("%q is too long", s)
		}
		full := n.String()
		again, err := ident.ParseName(full)
		if err != nil || again != n || again.String() != full {
			t.Errorf("%q: %q reads back as %q (%v)", s, full, again, err)
		}
		if !strings.HasSuffix(full, s) {
			t.Errorf("%q became %q: more than the default was added", s, full)
		}
	})
}

// noise is endless and the same in every run.
func noise() io.Reader {
	var n byte
	return readerFunc(func(p []byte) (int, error) {
		n++
		h := sha256.Sum256([]byte{n})
		return copy(p, h[:]), nil
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// T51: ids increase whatever the clock does.
func TestSourceIncreases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.UnixMilli(rapid.Int64Range(-1e12, 4e12).Draw(t, "start"))
		source := ident.NewSource(func() time.Time { return now }, noise())
		last := ""
		for range rapid.IntRange(2, 50).Draw(t, "n") {
			hours := rapid.SampledFrom([]time.Duration{0, 0, 1, -1, 10 * 8766, -10 * 8766}).Draw(t, "hours")
			now = now.Add(hours * time.Hour)
			id := source.New()
			if id <= last || len(id) != ulid.EncodedSize {
				t.Fatalf("%s after %s", id, last)
			}
			if _, whole, err := ident.ParseRef(id); err != nil || !whole {
				t.Fatalf("%s does not read back: %v", id, err)
			}
			last = id
		}
	})
}

// T51: the clock is where a program finds it: unset, or far away.
func TestSourceOddClocks(t *testing.T) {
	for name, now := range map[string]time.Time{
		"zero":        {},
		"before 1970": time.Unix(-1, 0),
		"last":        time.UnixMilli(1<<48 - 1),
		"year 200000": time.Date(200000, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		source := ident.NewSource(func() time.Time { return now }, noise())
		if a, b := source.New(), source.New(); a >= b || len(a) != ulid.EncodedSize {
			t.Errorf("%s: %s, then %s", name, a, b)
		}
	}
}

// T51: where the random part has no room left inside a millisecond, the time
// gives way.
func TestSourceOverflow(t *testing.T) {
	highest := bytes.NewReader(bytes.Repeat([]byte{0xff}, 10))
	now := time.UnixMilli(1000)
	source := ident.NewSource(func() time.Time { return now }, io.MultiReader(highest, noise()))
	first, second, third := source.New(), source.New(), source.New()
	if first >= second || second >= third {
		t.Errorf("%s, %s, %s", first, second, third)
	}
	if first[10:] != strings.Repeat("Z", 16) {
		t.Errorf("%s does not begin at the end", first)
	}
}

// A random source that fails once is asked again, and one that keeps failing
// stops the program: an id that is not unique is worse.
func TestSourceWithoutRandomness(t *testing.T) {
	failures := 0
	flaky := readerFunc(func(p []byte) (int, error) {
		if failures > 0 {
			failures--
			return 0, io.ErrNoProgress
		}
		for i := range p[:10] { // as much as one id takes, so that nothing is kept
			p[i] = 7
		}
		return 10, nil
	})
	source := ident.NewSource(func() time.Time { return time.UnixMilli(1000) }, flaky)
	first := source.New()
	failures = 1
	if second := source.New(); second <= first {
		t.Errorf("%s after %s", second, first)
	}
	failures = 100
	defer func() {
		if recover() == nil {
			t.Error("an id was made without randomness")
		}
	}()
	source.New()
	source.New()
	source.New()
}

// The order of the ids is the order of the calls, and no two are equal.
func TestSourceConcurrently(t *testing.T) {
	source := ident.NewSource(func() time.Time { return time.UnixMilli(1) }, noise())
	var mu sync.Mutex
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			last := ""
			for range 200 {
				id := source.New()
				if id <= last {
					t.Errorf("%s after %s", id, last)
				}
				last = id
				mu.Lock()
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(seen) != 1600 {
		t.Errorf("%d different ids of 1600", len(seen))
	}
}

func TestSourceReplays(t *testing.T) {
	mk := func() string {
		return ident.NewSource(func() time.Time { return time.UnixMilli(5) }, bytes.NewReader(make([]byte, 64))).New()
	}
	if a, b := mk(), mk(); a != b {
		t.Errorf("%s and %s from the same clock and randomness", a, b)
	}
}

// T52
func TestParseRef(t *testing.T) {
	const whole = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	for _, c := range []struct {
		in, ref string
		whole   bool
		want    string // a part of the error
	}{
		{whole, whole, true, ""},
		{strings.ToLower(whole), whole, true, ""},
		{"7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", true, ""},
		{"g5fav", "G5FAV", false, ""},
		{"5fav", "5FAV", false, ""},
		{"fav", "", false, "at least its last 4"},
		{"", "", false, "at least its last 4"},
		{whole + "A", "", false, "at least its last 4"},
		{"01ARZ3NDEKTSV4RRFFQ69G5FAI", "", false, `"I" does not occur`},
		{"aaal", "", false, `"L" does not occur`},
		{"aaao", "", false, `"O" does not occur`},
		{"aaau", "", false, `"U" does not occur`},
		{"aa-a", "", false, `"-" does not occur`},
		{"aaa\u017f", "", false, "only letters and digits"}, // a long s has the capital S
		{"ééé", "", false, "only letters and digits"},
		{"8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "", false, "overflow"},
	} {
		ref, isWhole, err := ident.ParseRef(c.in)
		if ref != c.ref || isWhole != c.whole || (err == nil) != (c.want == "") {
			t.Errorf("%q: got %q, %v, %v", c.in, ref, isWhole, err)
		}
		if c.want != "" && (!fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: got %v, want Invalid with %s", c.in, err, c.want)
		}
	}
}
