package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cleveragents/agents/config"
	"github.com/cleveragents/agents/fault"
)

func with(key, value string) config.Settings {
	return config.Settings{}.Over(config.Entry{Key: key, Value: value, Origin: config.Origin{Layer: config.User}})
}

func TestTheLogIsWhatIsSet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agents.log")
	for _, c := range []struct{ level, want string }{{"error", "three"}, {"info", "three one two three"}} {
		s := with(config.LogFile, path).Over(config.Entry{Key: config.LogLevel, Value: c.level, Origin: config.Origin{Layer: config.User}})
		log, closer, err := newLog(s)
		if err != nil {
			t.Fatal(err)
		}
		log.Debug("zero")
		log.Info("one")
		log.Warn("two")
		log.Error("three")
		if err := closer.Close(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(string(b)) {
			_, msg, _ := strings.Cut(strings.TrimSpace(line), "msg=")
			got = append(got, msg)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.level, got, c.want)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{pipe, filepath.Dir(pipe), "/dev/null"} {
		if _, _, err := newLog(with(config.LogFile, bad)); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if log, _, err := newLog(config.Settings{}); err != nil || log.Enabled(t.Context(), -4) || !log.Enabled(t.Context(), 4) {
		t.Errorf("by default: %v", err)
	}
}

func TestReadConfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.toml")
	if _, _, err := readConfig(path); !fault.Is(err, fault.NotFound) {
		t.Errorf("a named file that is not there: %v", err)
	}
	if err := os.WriteFile(path, []byte("# x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if where, text, err := readConfig(path); where != path || string(text) != "# x\n" || err != nil {
		t.Errorf("%s, %q, %v", where, text, err)
	}
	if got := configPath(""); !strings.HasSuffix(got, filepath.Join("cleveragents", "config.toml")) {
		t.Errorf("the usual place: %s", got)
	}
}

func TestEditText(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, c := range []struct{ visual, editor, want string }{
		{"", "sed -i s/a/b/", "b\n"}, {"sed -i s/a/c/", "sed -i s/a/b/", "c\n"},
	} {
		t.Setenv("VISUAL", c.visual)
		t.Setenv("EDITOR", c.editor)
		if got, err := editText(t.Context(), "x.toml", "a\n"); err != nil || got != c.want {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
	t.Setenv("VISUAL", "")
	for editor, kind := range map[string]fault.Kind{"": fault.Invalid, "false": fault.Unavailable} {
		t.Setenv("EDITOR", editor)
		if _, err := editText(t.Context(), "x.toml", "a\n"); !fault.Is(err, kind) {
			t.Errorf("EDITOR=%s: %v", editor, err)
		}
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
