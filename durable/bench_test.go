package durable

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
)

func BenchmarkRun100Steps(b *testing.B) {
	r := open(b, stateDir(b))
	i := 0
	for b.Loop() {
		i++
		if err := r.Run(context.Background(), fmt.Sprintf("p.%d", i), last(99)); err != nil {
			b.Fatal(err)
		}
	}
}

// A run of one step is what a claim and an end cost.
func BenchmarkRunOneStep(b *testing.B) {
	r := open(b, stateDir(b))
	i := 0
	for b.Loop() {
		i++
		if err := r.Run(context.Background(), fmt.Sprintf("p.%d", i), last(0)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTakeOver measures a whole Run of a key whose process is dead, with
// so many steps recorded and one to go. The death is a liveness that says no.
func BenchmarkTakeOver(b *testing.B) {
	for _, recorded := range []int{1, 100} {
		b.Run(fmt.Sprint(recorded), func(b *testing.B) {
			dir := b.TempDir()
			old, next := open(b, dir), open(b, dir)
			next.live = deadTo{next.live}
			i := 0
			for b.Loop() {
				b.StopTimer()
				i++
				key := fmt.Sprintf("p.%d", i)
				ctx, cancel := context.WithCancel(context.Background())
				_ = old.Run(ctx, key, func(_ context.Context, n int) (bool, error) {
					if n == recorded-1 {
						cancel()
					}
					return false, nil
				})
				if _, err := next.db.Exec(`UPDATE workflow_status SET status = 'PENDING', executor_id = 'x-1' WHERE workflow_uuid = $1`, key); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if err := next.Run(context.Background(), key, last(recorded)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	w, err := NewWorkers(b.TempDir(), "B")
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	dir := b.TempDir()
	for _, kind := range []string{"new", "existing"} {
		b.Run(kind, func(b *testing.B) {
			i := 0
			for b.Loop() {
				b.StopTimer()
				if kind == "new" {
					i++
				}
				path := filepath.Join(dir, fmt.Sprintf("%s%d.db", kind, i))
				b.StartTimer()
				r, err := Open(context.Background(), Config{Path: path, Live: w})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := r.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}

func BenchmarkNewWorkers(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		w, err := NewWorkers(dir, "B")
		if err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// last is a step function that is done at step n.
func last(n int) func(context.Context, int) (bool, error) {
	return func(_ context.Context, i int) (bool, error) { return i == n, nil }
}
