package secret_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/provider"
	"github.com/cleveragents/agents/secret"
)

// memory is a keyring in memory; wait, when it is set, holds every call back.
type memory struct {
	held map[string]string
	err  error
	wait chan struct{}
}

func (m *memory) Get(service, user string) (string, error) {
	if m.wait != nil {
		<-m.wait
	}
	if m.err != nil {
		return "", m.err
	}
	v, ok := m.held[service+"/"+user]
	if !ok {
		return "", secret.ErrNoEntry
	}
	return v, nil
}

func (m *memory) Set(service, user, value string) error {
	if m.err == nil {
		m.held[service+"/"+user] = value
	}
	return m.err
}

func (m *memory) Delete(service, user string) error {
	if _, ok := m.held[service+"/"+user]; !ok {
		return secret.ErrNoEntry
	}
	delete(m.held, service+"/"+user)
	return m.err
}

type broken struct{ secret.Ring }

var inRing = provider.Config{Name: "work", Kind: provider.OpenAI, KeyRing: true}

func TestRing(t *testing.T) {
	ctx := context.Background()
	s := secret.New(secret.Options{Ring: &memory{held: map[string]string{}}, Env: env("OPENAI_API_KEY", "other-key")})
	if _, err := s.Get(ctx, inRing); !fault.Is(err, fault.Unavailable) || fault.CodeOf(err) != "NoKey" || !strings.Contains(err.Error(), "provider work: the keyring holds no key for work") {
		t.Errorf("empty: %v", err)
	}
	if err := s.Delete(ctx, "work"); !fault.Is(err, fault.NotFound) {
		t.Errorf("delete of nothing: %v", err)
	}
	if err := s.Set(ctx, "work", canary+"\n"); err != nil {
		t.Fatal(err)
	}
	if k, err := s.Get(ctx, inRing); err != nil || k.Reveal() != canary || k.Name() != "work" {
		t.Errorf("got %v, %v", k, err)
	}
	if err := s.Set(ctx, "work", canary+" b"); !fault.Is(err, fault.Denied) || strings.Contains(err.Error(), "canary") {
		t.Errorf("set of two words: %v", err)
	}
	if err := s.Delete(ctx, "work"); err != nil {
		t.Error(err)
	}
	if _, err := s.Get(ctx, inRing); !fault.Is(err, fault.Unavailable) {
		t.Errorf("after delete: %v", err)
	}
	for name, r := range map[string]secret.Ring{"none": nil, "failing": &memory{err: errors.New("no D-Bus")}, "panicking": broken{}} {
		_, err := secret.New(secret.Options{Ring: r}).Get(ctx, inRing)
		if !fault.Is(err, fault.Unavailable) || !strings.Contains(fault.As(err).Hint, "key_env: NAME or key_file: PATH") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A keyring that waits for a person does not hold up who asked it, and is not
// asked again before it has answered.
func TestRingDoesNotBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{held: map[string]string{"cleveragents/work": canary}, wait: make(chan struct{})}
		s := secret.New(secret.Options{Ring: m})
		for range 2 {
			start := time.Now()
			_, err := s.Get(t.Context(), inRing)
			if took := time.Since(start); took != secret.DefaultWait {
				t.Errorf("took %s, want %s", took, secret.DefaultWait)
			}
			if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "no answer within 2s") {
				t.Errorf("got %v", err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Get(ctx, inRing); !fault.Is(err, fault.Timeout) {
			t.Errorf("with a deadline: %v", err)
		}
		close(m.wait)
		synctest.Wait()
		if k, err := s.Get(t.Context(), inRing); err != nil || k.Reveal() != canary {
			t.Errorf("after it answered: %v, %v", k, err)
		}
	})
}

// Without a session bus the library would start one that stays behind with our
// whole environment.
func TestSystemRingStartsNothing(t *testing.T) {
	run := "/run/user/" + strconv.Itoa(os.Getuid())
	for _, name := range []string{"/bus", "/dbus-session"} {
		if _, err := os.Stat(run + name); err == nil {
			t.Skip("there is a session bus here")
		}
	}
	dir := t.TempDir()
	started := filepath.Join(dir, "started")
	if err := os.WriteFile(filepath.Join(dir, "dbus-launch"), []byte("#!/bin/sh\n: >"+started+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	for _, address := range []string{"", "autolaunch:"} {
		t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
		s := secret.New(secret.Options{Ring: secret.SystemRing()})
		_, get := s.Get(t.Context(), inRing)
		for name, err := range map[string]error{"get": get, "set": s.Set(t.Context(), "work", canary), "delete": s.Delete(t.Context(), "work")} {
			if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "no session bus") {
				t.Errorf("%s at %q: %v", name, address, err)
			}
		}
	}
	if _, err := os.Stat(started); err == nil {
		t.Error("dbus-launch was started")
	}
}

// A bus that is not there, and one that takes the call and never answers.
func TestSystemRingWithoutAnswer(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "none"))
	s := secret.New(secret.Options{Ring: secret.SystemRing()})
	if _, err := s.Get(t.Context(), inRing); !fault.Is(err, fault.Unavailable) {
		t.Errorf("no bus: %v", err)
	}

	socket := filepath.Join(t.TempDir(), "bus")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // what was not accepted is closed with it, which ends the call
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+socket)
	s = secret.New(secret.Options{Ring: secret.SystemRing(), Wait: 50 * time.Millisecond})
	if _, err := s.Get(t.Context(), inRing); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "no answer within 50ms") {
		t.Errorf("silent bus: %v", err)
	}
}

// The library's own in-memory keyring stays for the rest of the process, so the
// round trip has a process of its own.
func TestSystemRing(t *testing.T) {
	if os.Getenv("SECRET_TEST_RING") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSystemRing$", "-test.v")
		cmd.Env = []string{"SECRET_TEST_RING=1", "DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere", "HOME=" + t.TempDir()}
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestSystemRing") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	keyring.MockInit()
	s := secret.New(secret.Options{Ring: secret.SystemRing()})
	if _, err := s.Get(t.Context(), inRing); fault.CodeOf(err) != "NoKey" {
		t.Errorf("empty: %v", err)
	}
	if err := s.Delete(t.Context(), "work"); !fault.Is(err, fault.NotFound) {
		t.Errorf("delete of nothing: %v", err)
	}
	if err := s.Set(t.Context(), "work", canary); err != nil {
		t.Fatal(err)
	}
	if v, err := keyring.Get("cleveragents", "work"); v != canary || err != nil {
		t.Errorf("in the keyring is %q, %v", v, err)
	}
	if k, err := s.Get(t.Context(), inRing); err != nil || k.Reveal() != canary {
		t.Errorf("got %v, %v", k, err)
	}
	if err := s.Delete(t.Context(), "work"); err != nil {
		t.Error(err)
	}
}
