package cli

import (
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// A page of help says what a flag takes and never what type Go has for it.
func TestFlagUsages(t *testing.T) {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.StringP("file", "f", "", "read this `path`")
	f.StringArray("word", nil, "some words")
	f.Int("limit", 30, "at most so many")
	f.Duration("timeout", 0*time.Second, "give up after it")
	f.CountP("verbose", "v", "say more")
	f.Bool("a-flag-with-a-name-that-is-long", false, "on its own line")
	f.Bool("secret", false, "not told")
	if err := f.MarkHidden("secret"); err != nil {
		t.Fatal(err)
	}
	const want = `      --a-flag-with-a-name-that-is-long
                         on its own line
  -f, --file <path>      read this path
      --limit <number>   at most so many
                         (default 30)
      --timeout <time>   give up after it
  -v, --verbose          say more
      --word <text>      some words
`
	if got := flagUsages(f, 46); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
