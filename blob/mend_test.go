package blob

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cleveragents/agents/fault"
)

// T40: what is damaged is written again by who has the bytes.
func TestMend(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	text := []byte(strings.Repeat("some text ", 100))
	for name, damage := range map[string]func(path string) error{
		"changed": func(path string) error { return os.WriteFile(path, []byte("\x00other"), 0o600) },
		"lost":    os.Remove,
		"whole":   func(string) error { return nil },
	} {
		hash, err := s.Put(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		if err := damage(filepath.Join(dir, hash[:2], hash)); err != nil {
			t.Fatal(err)
		}
		if again, err := s.Mend(t.Context(), text); err != nil || again != hash {
			t.Fatalf("%s: %s %v", name, again, err)
		}
		if got, err := s.Get(t.Context(), hash); err != nil || string(got) != string(text) {
			t.Errorf("%s: after mending: %d bytes, %v", name, len(got), err)
		}
	}
}

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for err, kind := range map[error]fault.Kind{
		syscall.ENOSPC: fault.Exhausted, syscall.EDQUOT: fault.Exhausted,
		syscall.EIO: fault.Unavailable, syscall.EROFS: fault.Unavailable,
	} {
		got := s.unput(fmt.Errorf("write x: %w", err))
		if !fault.Is(got, kind) || kind == fault.Exhausted && (!strings.Contains(got.Error(), dir) || fault.As(got).Hint == "") {
			t.Errorf("%v: %v", err, got)
		}
	}
	// A device that is always full stands for the temp file of a stream.
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer full.Close()
	head := []byte(strings.Repeat("x", 64<<10))
	if _, _, err := s.stream(t.Context(), full, head, strings.NewReader("")); !fault.Is(s.unput(err), fault.Exhausted) {
		t.Errorf("a stream to a full device: %v", err)
	}
}
