package secret_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/provider"
	"github.com/cleveragents/agents/secret"
)

// T32: a key file that others can read, write or exchange is not used.
func TestGetFromFile(t *testing.T) {
	write := func(t *testing.T, dir, text string, mode os.FileMode) string {
		t.Helper()
		p := filepath.Join(dir, "it's a key")
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(p, mode); err != nil {
			t.Fatal(err)
		}
		return p
	}
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		file func(t *testing.T, dir string) string
		kind fault.Kind
		text string // "" for a key
		hint string
	}{
		"private":      {func(t *testing.T, dir string) string { return write(t, dir, canary, 0o600) }, 0, "", ""},
		"read only":    {func(t *testing.T, dir string) string { return write(t, dir, "\n "+canary+"\r\n", 0o400) }, 0, "", ""},
		"below home":   {func(t *testing.T, dir string) string { return "~/" + filepath.Base(write(t, dir, canary, 0o600)) }, 0, "", ""},
		"group reads":  {func(t *testing.T, dir string) string { return write(t, dir, canary, 0o640) }, fault.Blocked, "is not private (mode 0640, at most 0600)", `run: chmod 600 '`},
		"others read":  {func(t *testing.T, dir string) string { return write(t, dir, canary, 0o604) }, fault.Blocked, "is not private (mode 0604", `it'\''s a key'`},
		"others write": {func(t *testing.T, dir string) string { return write(t, dir, canary, 0o602) }, fault.Blocked, "is not private", "chmod 600"},
		"a program":    {func(t *testing.T, dir string) string { return write(t, dir, canary, 0o700) }, fault.Blocked, "is not private", "chmod 600"},
		"empty":        {func(t *testing.T, dir string) string { return write(t, dir, " \n", 0o600) }, fault.Denied, "is not a key: it is empty", "alone"},
		"two lines":    {func(t *testing.T, dir string) string { return write(t, dir, canary+"\nb", 0o600) }, fault.Denied, "a line break", "alone"},
		"too large": {func(t *testing.T, dir string) string {
			return write(t, dir, strings.Repeat("a", secret.MaxKey+1), 0o600)
		}, fault.Denied, "is larger than 8192 bytes", ""},
		"not there":      {func(_ *testing.T, dir string) string { return filepath.Join(dir, "none") }, fault.Unavailable, "no such file", "chmod 600"},
		"no directory":   {func(_ *testing.T, dir string) string { return filepath.Join(dir, "no", "key") }, fault.Unavailable, "no such file", "chmod 600"},
		"a directory":    {func(_ *testing.T, dir string) string { return dir }, fault.Blocked, "is not a regular file", ""},
		"the root":       {func(*testing.T, string) string { return "/" }, fault.Blocked, "is not a regular file", ""},
		"relative":       {func(*testing.T, string) string { return "key" }, fault.Invalid, "is not an absolute path", ""},
		"another's home": {func(*testing.T, string) string { return "~root/key" }, fault.Invalid, "is not an absolute path", ""},
		"a link": {func(t *testing.T, dir string) string {
			p := filepath.Join(dir, "link")
			must(t, os.Symlink(write(t, dir, canary, 0o600), p))
			return p
		}, fault.Blocked, "is a link", "that it leads to"},
		"a pipe": {func(t *testing.T, dir string) string {
			p := filepath.Join(dir, "pipe")
			must(t, syscall.Mkfifo(p, 0o600))
			return p
		}, fault.Blocked, "is not a regular file", ""},
		"in a public directory": {func(t *testing.T, dir string) string {
			must(t, os.Chmod(dir, 0o777))
			return write(t, dir, canary, 0o600)
		}, fault.Blocked, "others can exchange the files of", "chmod go-w"},
		"in a sticky directory": {func(t *testing.T, dir string) string {
			must(t, os.Chmod(dir, 0o777|os.ModeSticky))
			return write(t, dir, canary, 0o600)
		}, 0, "", ""},
		"another's": {func(t *testing.T, dir string) string {
			if os.Geteuid() != 0 {
				t.Skip("only root can give a file away")
			}
			p := write(t, dir, canary, 0o600)
			must(t, os.Chown(p, 65534, 65534))
			return p
		}, fault.Blocked, "belongs to user 65534, not to you", "copy"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			config := provider.Config{Name: "work", Kind: provider.OpenAI, KeyFile: c.file(t, dir)}
			k, err := secret.New(secret.Options{Home: dir}).Get(context.Background(), config)
			if c.text == "" {
				if err != nil || k.Reveal() != canary || k.Name() != "work" {
					t.Errorf("got %v, %v", k, err)
				}
				return
			}
			f := fault.As(err)
			if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) || !strings.Contains(f.Hint, c.hint) || !k.Empty() {
				t.Errorf("got %v %v (%s), want %v %s (%s)", fault.KindOf(err), err, f.Hint, c.kind, c.text, c.hint)
			}
			check(t, "the error", err.Error()+f.Hint)
		})
	}
	_, err := secret.New(secret.Options{}).Get(context.Background(), provider.Config{Name: "work", Kind: provider.OpenAI, KeyFile: "~/key"})
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "no home directory") {
		t.Errorf("without a home: %v", err)
	}
}
