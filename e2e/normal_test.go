package e2e_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// normal writes a file with everything that differs from run to run replaced:
// normal stdout plan_show.json
// Texts of the keys that follow differ from machine to machine:
// normal stdout doctor.json detail
func normal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: normal from to [key...]")
	}
	text := normalised(ts.ReadFile(args[0]), ts.Getenv("WORK"))
	for _, key := range args[2:] {
		value := regexp.MustCompile(`("` + regexp.QuoteMeta(key) + `": )"(?:\\.|[^"\\])*"`)
		text = value.ReplaceAllString(text, `$1"…"`)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

var (
	ulid    = regexp.MustCompile(`\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b`)
	hash    = regexp.MustCompile(`\b[0-9a-f]{64}\b`)
	moment  = regexp.MustCompile(`\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
	numbers = regexp.MustCompile(`"(bytes|ms)": ?\d+`)
	tool    = regexp.MustCompile(`go1\.\d+(\.\d+)?`)
	backend = regexp.MustCompile(`"backend": ?"[a-z]+"`)
)

// normalised numbers ids and hashes in the order in which they appear, so that
// it still shows which of them are the same.
func normalised(s, work string) string {
	s = strings.ReplaceAll(s, work, "$WORK")
	ids := map[string]string{}
	for _, id := range ulid.FindAllString(s, -1) {
		if ids[id] == "" {
			ids[id] = fmt.Sprintf("ID-%d", len(ids)+1)
		}
	}
	for id, name := range ids {
		s = strings.ReplaceAll(s, id, name)
		s = strings.ReplaceAll(s, id[len(id)-8:], name)
		s = strings.ReplaceAll(s, strings.ToLower(id[len(id)-6:]), strings.ToLower(name))
	}
	hashes := map[string]string{}
	s = hash.ReplaceAllStringFunc(s, func(h string) string {
		if hashes[h] == "" {
			hashes[h] = fmt.Sprintf("HASH-%d", len(hashes)+1)
		}
		return hashes[h]
	})
	s = moment.ReplaceAllString(s, "TIME")
	s = numbers.ReplaceAllString(s, `"$1": 0`)
	s = backend.ReplaceAllString(s, `"backend": "BACKEND"`)
	return tool.ReplaceAllString(s, "GO")
}

func TestNormalised(t *testing.T) {
	in := `{"id":"01M8QEG6203S94ND1T4CC42QNP","name":"local/command-c42qnp","next":"agents plan resume 01M8QEG6203S94ND1T4CC42QNP",` +
		`"other":"01M8QEG7V9WEGXQ28SVQKSHPAF","at":"2026-03-04T05:06:07.123Z","file":"/tmp/x/a","bytes": 77,"short":"4CC42QNP",` +
		`"hash":"` + strings.Repeat("ab", 32) + `","go":"go1.26.8","backend":"copy"}`
	want := `{"id":"ID-1","name":"local/command-id-1","next":"agents plan resume ID-1",` +
		`"other":"ID-2","at":"TIME","file":"$WORK/a","bytes": 0,"short":"ID-1",` +
		`"hash":"HASH-1","go":"GO","backend": "BACKEND"}`
	if got := normalised(in, "/tmp/x"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
