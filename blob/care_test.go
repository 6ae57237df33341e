package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cleveragents/agents/fault"
)

// kernelNow is the time as the file system of dir tells it.
func kernelNow(t *testing.T, dir string) time.Time {
	t.Helper()
	name := filepath.Join(dir, "now")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return changed(fi)
}

func TestPutAndTouchMakeYoung(t *testing.T) {
	big := noise(200 << 10)
	small, large := hashOf([]byte("a")), hashOf(big)
	for name, again := range map[string]func(s *Store) error{
		"put": func(s *Store) error { _, err := s.PutAll(t.Context(), [][]byte{[]byte("a"), big}); return err },
		"put from": func(s *Store) error {
			_, _, err := s.PutFrom(t.Context(), bytes.NewReader(big))
			_, _, err2 := s.PutFrom(t.Context(), bytes.NewReader([]byte("a")))
			return errors.Join(err, err2)
		},
		"touch": func(s *Store) error {
			there, err := s.Touch(t.Context(), small, large, hashOf([]byte("none")))
			if !there[small] || !there[large] || len(there) != 2 {
				t.Errorf("touched %v", there)
			}
			return err
		},
		"nothing": func(*Store) error { return nil },
	} {
		s, dir := newStore(t, MaxSize)
		if _, err := s.PutAll(t.Context(), [][]byte{[]byte("a"), big}); err != nil {
			t.Fatal(err)
		}
		then := kernelNow(t, dir)
		limit := then
		for !limit.After(then) { // the clock of a file system has ticks
			limit = kernelNow(t, dir)
		}
		if err := again(s); err != nil {
			t.Fatal(err)
		}
		gone, err := s.Remove(t.Context(), limit, []string{small, large})
		if want := map[string]int{"nothing": 2}[name]; err != nil || len(gone) != want {
			t.Errorf("%s: removed %d (%v), want %d", name, len(gone), err, want)
		}
	}
}

func TestFilesAndRemove(t *testing.T) {
	s, dir := newStore(t, MaxSize)
	var want []string
	var bs [][]byte
	for i := range 3 * removeBatch {
		bs = append(bs, fmt.Appendf(nil, "blob %d", i))
		want = append(want, hashOf(bs[i]))
	}
	if _, err := s.PutAll(t.Context(), bs); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "00", "tmp-1-1"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	err := s.Files(t.Context(), func(f File) error {
		if f.Size == 0 || f.Touched.IsZero() {
			t.Errorf("file %+v", f)
		}
		got = append(got, f.Hash)
		return nil
	})
	slices.Sort(want)
	slices.Sort(got)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%d files (%v), want %d", len(got), err, len(want))
	}
	late := time.Unix(1<<40, 0)
	gone, err := s.Remove(t.Context(), late, append(want, hashOf([]byte("none"))))
	if err != nil || len(gone) != len(want) {
		t.Errorf("removed %d (%v), want %d", len(gone), err, len(want))
	}
	if s.Has(want[0]) {
		t.Error("a removed blob is there")
	}
	if _, err := s.Remove(t.Context(), late, []string{"../x"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("no hash: %v", err)
	}
	// What was removed is stored again, also by a store that knew it durable.
	if _, err := s.PutAll(t.Context(), bs[:1]); err != nil || !s.Has(hashOf(bs[0])) {
		t.Errorf("put after the removal: %v", err)
	}
}

// A removal never takes a blob between the moment in which a writer has made
// sure of it and the time that its age gives the writer: whoever puts bytes
// that are there already finds them afterwards, however often somebody removes
// what is older than that.
func TestRemoveBesideWriters(t *testing.T) {
	s, dir := newStore(t, MaxSize)
	other, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	b := []byte("named again and again")
	hash := hashOf(b)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(done)
		for range 2000 {
			if _, err := s.Put(context.Background(), b); err != nil {
				t.Error(err)
				return
			}
			if !s.Has(hash) {
				t.Error("a blob that was put a moment ago is gone")
				return
			}
		}
	})
	removed := 0
	for {
		select {
		case <-done:
			wg.Wait()
			return
		default:
		}
		// Everything older than a second of the kernel's clock may go; the file is
		// made older by nobody, so a removal here is a touch that was lost.
		gone, err := other.Remove(t.Context(), kernelNow(t, dir).Add(-time.Second), []string{hash})
		if err != nil {
			t.Fatal(err)
		}
		if removed += len(gone); removed > 0 {
			t.Fatal("a blob in use was removed")
		}
	}
}

// A touch waits for a removal and a removal for a touch.
func TestTouchAndRemoveExclude(t *testing.T) {
	s, _ := newStore(t, MaxSize)
	hash, err := s.Put(t.Context(), []byte("a"))
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	release, err := s.hold(t.Context(), syscall.LOCK_EX)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Touch(short, hash); err == nil {
		t.Error("a touch did not wait for a removal")
	}
	release()
	if release, err = s.hold(t.Context(), syscall.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	short2, cancel2 := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel2()
	if _, err := s.Remove(short2, time.Unix(1<<40, 0), []string{hash}); err == nil {
		t.Error("a removal did not wait for a touch")
	}
	if _, err := s.Touch(t.Context(), hash); err != nil {
		t.Errorf("two touches exclude each other: %v", err)
	}
	release()
}
