package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/llm"
	"github.com/cleveragents/agents/llm/scripted"
)

// turns is a script of so many turns in Execute: a decision, then a read each,
// and at every fifth turn also an edit of what was read.
type turns struct {
	n     int
	lines int // of each read
	delay time.Duration
}

func (s turns) Reply(r scripted.Request) (scripted.Reply, error) {
	out := scripted.Reply{Text: fmt.Sprintf("Turn %d: I look at the next place.", r.Turn), Delay: s.delay}
	call := func(name, args string, a ...any) {
		out.ToolCalls = append(out.ToolCalls, scripted.ToolCall{Name: llm.WireName("builtin/" + name), Arguments: fmt.Sprintf(args, a...)})
	}
	decide := func(kind string) {
		call("record_decision", `{"type":%q,"question":"How?","chosen":"so","alternatives":[],"rationale":"it is measured"}`, kind)
	}
	t, file := r.Turn, workFile(r.Turn)
	switch strategize := r.Contains("system", "You are the strategist"); {
	case strategize && t == 0:
		decide("strategy_choice")
	case strategize, t >= s.n-1:
		out.Text = "That is all."
	case t == 0:
		decide("implementation_choice")
	default:
		line := t / worked // each time another line of the same file
		call("read", `{"path":%q,"offset":%d,"limit":%d}`, file, line+1, s.lines)
		if t%5 == 0 {
			call("edit", `{"path":%q,"old":"line %d of file %d:","new":"line %d of file %d, changed:"}`, file, line, t%worked, line, t%worked)
		}
	}
	return out, nil
}

// BenchmarkPlan is a whole plan from use to the end of Execute, with everything
// recorded and durable. Where the time went is in the metrics, each in
// milliseconds a model call; "ours" is all but model and tools, "best" and
// "best-ours" are the least that any plan of the run took.
func BenchmarkPlan(b *testing.B) {
	for _, c := range []struct {
		name  string
		files int
		s     turns
	}{
		{"calls=100/lines=4/files=200", 200, turns{n: 100, lines: 4}},
		{"calls=100/lines=40/files=200", 200, turns{n: 100, lines: 40}},
		{"calls=400/lines=4/files=200", 200, turns{n: 400, lines: 4}},
		{"calls=100/lines=4/files=5000", 5000, turns{n: 100, lines: 4}},
		{"calls=20/lines=40/files=200/model=500ms", 200, turns{n: 20, lines: 40, delay: 500 * time.Millisecond}},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := newWorld(b, c.files, c.s)
			w.run(b) // the first takes the snapshot and the workflow engine's start
			w.clocks.reset()
			var wall, ours, syncs []time.Duration
			var cpu time.Duration
			for b.Loop() {
				start, before, others := time.Now(), cpuTime(), w.clocks.others()
				w.run(b)
				took := time.Since(start)
				wall = append(wall, took)
				ours = append(ours, took-(w.clocks.others()-others))
				cpu += cpuTime() - before
				syncs = append(syncs, syncTimes(b, 20)...)
			}
			report(b, w, wall, ours, cpu)
			slices.Sort(syncs)
			b.ReportMetric(float64(syncs[len(syncs)/2].Microseconds())/1000, "sync-ms")
		})
	}
}

func report(b *testing.B, w *world, wall, ours []time.Duration, cpu time.Duration) {
	b.Helper()
	var sum, own time.Duration
	for i := range wall {
		sum += wall[i]
		own += ours[i]
	}
	c := &w.clocks
	calls := float64(c.model.times.Load())
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) / calls }
	of := func(k *clock) time.Duration { return time.Duration(k.took.Load()) }
	n := float64(len(wall))
	b.ReportMetric(ms(slices.Min(wall))*n, "best-ms/call")
	b.ReportMetric(ms(slices.Min(ours))*n, "best-ours-ms/call")
	b.ReportMetric(ms(sum), "ms/call")
	b.ReportMetric(ms(cpu), "cpu-ms/call")
	b.ReportMetric(ms(of(&c.model)), "model-ms/call")
	b.ReportMetric(ms(of(&c.tools)), "tools-ms/call")
	b.ReportMetric(ms(own), "ours-ms/call")
	b.ReportMetric(ms(of(&c.store)), "store-ms/call")
	b.ReportMetric(float64(c.store.times.Load())/calls, "tx/call")
	b.ReportMetric(float64(c.commits.times.Load())/calls, "commits/call")
	b.ReportMetric(float64(c.relaxed.times.Load())/calls, "relaxed/call")
	b.ReportMetric(ms(of(&c.blobs)), "blobs-ms/call")
	b.ReportMetric(float64(c.blobs.times.Load())/calls, "puts/call")
	b.ReportMetric(ms(of(&c.trees)), "looks-ms/call")
	b.ReportMetric(ms(sum-of(&c.steps)), "workflow-ms/call")
	b.ReportMetric(100*float64(own)/float64(sum), "ours-%")
}

// BenchmarkManifest is the wire check and the manifest of the requests of a
// plan, apart from storing them: all requests, each on the one before, and the
// last, which is largest, from nothing.
func BenchmarkManifest(b *testing.B) {
	w := newWorld(b, worked, turns{n: 100, lines: 40})
	w.model.keep = true
	w.run(b)
	for _, c := range []struct {
		name string
		reqs []sent
	}{{"all", w.model.sent}, {"last", w.model.sent[len(w.model.sent)-1:]}} {
		b.Run(c.name, func(b *testing.B) {
			bytes, manifest := 0, 0
			for _, s := range c.reqs {
				bytes += len(s.body)
			}
			for b.Loop() {
				manifest = 0
				var tracker evidence.Tracker
				for _, s := range c.reqs {
					got, err := tracker.Next(s.body, s.request)
					if err != nil || len(got.Mismatches) > 0 {
						b.Fatal(got.Mismatches, err)
					}
					text, err := json.Marshal(got.Manifest)
					must(b, err)
					tracker.Stored(evidence.Hash(text))
					manifest += len(text)
				}
			}
			n := float64(len(c.reqs))
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N)/n, "ms/call")
			b.ReportMetric(float64(bytes)/n/1024, "request-KiB")
			b.ReportMetric(float64(manifest)/n/1024, "manifest-KiB")
		})
	}
}

// syncTimes is the anchor of everything durable, taken beside each plan: files
// of 1 KB, each written and synced.
func syncTimes(b *testing.B, n int) []time.Duration {
	b.Helper()
	dir := b.TempDir()
	text := make([]byte, 1<<10)
	var out []time.Duration
	for i := range n {
		start := time.Now()
		f, err := os.Create(filepath.Join(dir, strconv.Itoa(i)))
		must(b, err)
		_, err = f.Write(text)
		must(b, err)
		must(b, f.Sync())
		must(b, f.Close())
		out = append(out, time.Since(start))
	}
	return out
}

// BenchmarkSync is the same anchor alone.
func BenchmarkSync(b *testing.B) {
	for b.Loop() {
		syncTimes(b, 1)
	}
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
