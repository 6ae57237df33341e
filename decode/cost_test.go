package decode_test

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cleveragents/agents/decode"
)

// T66: whatever the text, the refusal is quick and small. The processor time is
// measured, since other tests run beside this one, and the allocation of the
// whole call, which is more than it ever holds at once.
func TestCostOfHostileText(t *testing.T) {
	const maxTime, maxBytes = 100 * time.Millisecond, 64 << 20
	type call func(text []byte) error
	yaml := call(func(b []byte) error { var v sample; return decode.YAML("f", b, &v) })
	js := call(func(b []byte) error { var v sample; return decode.JSON("f", b, &v) })
	value := call(func(b []byte) error { _, err := decode.JSONValue("f", b); return err })

	for name, c := range map[string]struct {
		read call
		text string
		want string // a part of the refusal; "" means that it may be read
	}{
		"yaml 2 MB":             {yaml, "name: " + strings.Repeat("x", 2<<20), "larger than"},
		"yaml depth 200k list":  {yaml, strings.Repeat("[", 200_000), "entries"},
		"yaml depth 200k map":   {yaml, "map: " + strings.Repeat("{a: ", 200_000), "entries"},
		"yaml depth 200k block": {yaml, strings.Repeat("- ", 200_000), "entries"},
		"yaml depth 9k":         {yaml, "map: {a: " + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + "}", "nested deeper"},
		"yaml alias bomb":       {yaml, aliasBomb(), "values"},
		"yaml wide aliases":     {yaml, "map:\n  a: &a [" + strings.Repeat("1,", 9_000) + "]\n  b: [" + strings.Repeat("*a,", 9_000) + "]\n", "values"},
		"yaml 15k keys":         {yaml, "map:\n" + lines(15_000, "  k%d: 1\n"), "too many keys"},
		"yaml most keys":        {yaml, "map:\n" + lines(2_000, "  k%d: 1\n"), ""},
		"yaml many small maps":  {yaml, "map: {a: [" + strings.Repeat("{a: 1},", 13_000) + "]}", ""},
		"yaml many empty lists": {yaml, "map: {a: [" + strings.Repeat("[],", 19_000) + "]}", ""},
		"yaml long text":        {yaml, "name: \"" + strings.Repeat("x ", 500_000) + "\"", ""},
		"json depth 200k":       {js, `{"map":` + strings.Repeat(`{"a":`, 200_000), "max depth"},
		"json 2 MB key":         {js, `{"` + strings.Repeat("x", 2<<20) + `":1}`, "unknown key"},
		"json value depth":      {value, strings.Repeat("[", 200_000), "max depth"},
		"json 2 MB number":      {value, strings.Repeat("9", 2<<20) + "x", "invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			text := []byte(c.text)
			best, bytes := time.Hour, uint64(0)
			for range runs {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				start := cpu(t)
				err := c.read(text)
				best = min(best, cpu(t)-start)
				runtime.ReadMemStats(&after)
				bytes = after.TotalAlloc - before.TotalAlloc
				switch {
				case c.want == "" && err != nil:
					t.Fatal(err)
				case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
					t.Fatalf("got %.200v, want a refusal with %q", err, c.want)
				}
			}
			if best > maxTime*slowdown || bytes > maxBytes {
				t.Errorf("took %v and %d KiB", best, bytes>>10)
			}
			t.Logf("%v, %d KiB", best, bytes>>10)
		})
	}
}

// cpu returns the processor time of the process so far.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func lines(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func aliasBomb() string {
	s := "map:\n  a0: &a0 [x]\n"
	for i := range 20 {
		s += fmt.Sprintf("  a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), ", "))
	}
	return s
}
