package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/cli"
	"github.com/cleveragents/agents/fault"
)

// used is a data directory in which a plan waits with changes, whose task and
// files hold the secret words.
func used(t *testing.T) (data string, plan a2a.PlanSummary) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	data = filepath.Join(home, "data")
	proj := filepath.Join(home, "secretproject")
	if err := os.Mkdir(proj, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(proj, "secretfile.txt"), []byte("secretcontent\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	client, closer, err := open(t.Context(), cli.Options{DataDir: data, Dir: proj})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := closer.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := a2a.Call(t.Context(), client, a2a.ProjectInit(), a2a.ProjectInitRequest{Dir: proj, Name: "secretname"}, nil); err != nil {
		t.Fatal(err)
	}
	got, err := a2a.Call(t.Context(), client, a2a.PlanUse(), a2a.PlanUseRequest{
		Action: "builtin/command", Args: map[string]string{"command": "echo secretcommand | tee secretmade.txt"},
		Profile: "auto", NoInput: true, Start: true,
	}, nil)
	if err != nil && !fault.Is(err, fault.Waiting) {
		t.Fatal(err)
	}
	return data, got.Plan
}

func visit(t *testing.T, data string, q a2a.DoctorQuery) map[string]a2a.Finding {
	t.Helper()
	client, closer, err := open(t.Context(), cli.Options{DataDir: data, Unopened: true})
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	v, err := a2a.Call(t.Context(), client, a2a.DoctorRun(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]a2a.Finding{}
	for _, f := range v.Findings {
		out[f.Name] = f
	}
	return out
}

// problems are the names of the findings that are not ok, but for what this
// machine may lack.
func problems(all map[string]a2a.Finding) map[string]string {
	out := map[string]string{}
	for name, f := range all {
		if f.Level != "ok" && name != "sandbox" && name != "sh" {
			out[name] = f.Level
		}
	}
	return out
}

// Each thing that can be broken is found, told with the way out, and hides no
// other.
func TestDoctorFinds(t *testing.T) {
	data, plan := used(t)
	if d := cmp.Diff(map[string]string{}, problems(visit(t, data, a2a.DoctorQuery{}))); d != "" {
		t.Fatalf("in a sound world (-want +got):\n%s", d)
	}
	garbage := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, name), strings.Repeat("garbage ", 4096))
		}
	}
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir string)
		want  map[string]string
		fixed bool // by --fix
		fix   string
	}{
		"database":      {garbage("data.db"), map[string]string{"store": "problem"}, false, "move the file away"},
		"workflow file": {garbage("engine.db"), map[string]string{"workflows": "problem"}, false, "mv '"},
		"blobs": {func(t *testing.T, dir string) {
			rename(t, filepath.Join(dir, "blobs"), filepath.Join(dir, "lost"))
		}, map[string]string{"plans": "problem"}, false, "agents plan cancel " + string(plan.ID)},
		"a directory of blobs": {func(t *testing.T, dir string) {
			for _, sub := range []string{"0a", "0b", "0c", "0d"} {
				_ = os.Remove(filepath.Join(dir, "blobs", sub)) // those that are empty
			}
		}, map[string]string{"blobs": "problem"}, true, "agents doctor --fix"},
		"modes": {func(t *testing.T, dir string) {
			chmod(t, filepath.Join(dir, "engine.db"), 0o644)
		}, map[string]string{"modes": "warning"}, true, "chmod"},
		"modes for writers": {func(t *testing.T, dir string) {
			chmod(t, dir, 0o777)
			chmod(t, filepath.Join(dir, "data.db"), 0o666)
		}, map[string]string{"modes": "problem", "store": "problem"}, true, "chmod"},
		"not a directory": {func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, "blobs")); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "blobs"), "a file")
		}, map[string]string{"blobs": "problem"}, false, "directory of yours"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			if err := os.CopyFS(dir, os.DirFS(data)); err != nil {
				t.Fatal(err)
			}
			tighten(t, dir)
			c.spoil(t, dir)
			got := visit(t, dir, a2a.DoctorQuery{})
			if d := cmp.Diff(c.want, problems(got)); d != "" {
				t.Fatalf("(-want +got):\n%s", d)
			}
			ways := ""
			for name := range c.want {
				if got[name].Fix == "" {
					t.Errorf("%s has no way out", name)
				}
				ways += got[name].Fix
			}
			if !strings.Contains(ways, c.fix) {
				t.Errorf("the way out is %q, without %q", ways, c.fix)
			}
			after := problems(visit(t, dir, a2a.DoctorQuery{Fix: true}))
			if c.fixed != (len(after) == 0) {
				t.Errorf("after --fix: %v", after)
			}
		})
	}
}

// A directory that cannot be written is told as such, and is left as it is.
func TestDoctorReadOnly(t *testing.T) {
	if os.Geteuid() == 0 {
		// What stops everybody else does not stop root; /proc stops root, too.
		got := visit(t, "/proc/none", a2a.DoctorQuery{})
		if f := got["directory"]; f.Level != "problem" || !strings.Contains(f.Fix, "--data-dir") {
			t.Errorf("%+v", f)
		}
		return
	}
	dir := t.TempDir()
	chmod(t, dir, 0o500)
	t.Cleanup(func() { chmod(t, dir, 0o700) })
	got := visit(t, dir, a2a.DoctorQuery{})
	if f := got["directory"]; f.Level != "problem" || !strings.Contains(f.Fix, "--data-dir") {
		t.Errorf("%+v", f)
	}
}

// --fix removes what crashes left and nothing that is young or has another name.
func TestDoctorLeftovers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	visit(t, dir, a2a.DoctorQuery{}) // makes it
	old := time.Now().Add(-3 * time.Hour)
	left := []string{".new-1", "data.db.v3.bak.part", ".doctor-77", "blobs/00/tmp-1-1", "workers/W1-77.lock"}
	kept := []string{"data.db.v3.bak", "note.txt", "blobs/00/young", "kept.part"}
	if err := os.MkdirAll(filepath.Join(dir, "workers"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(append([]string{}, left...), kept...) {
		write(t, filepath.Join(dir, name), "x")
		if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	young := ".new-2"
	write(t, filepath.Join(dir, young), "x")
	f := visit(t, dir, a2a.DoctorQuery{})["leftovers"]
	if !strings.Contains(f.Detail, "4 unfinished files") || !strings.Contains(f.Detail, "1 locks") || f.Fix != "agents doctor --fix" {
		t.Errorf("%+v", f)
	}
	if f := visit(t, dir, a2a.DoctorQuery{Fix: true})["leftovers"]; !strings.Contains(f.Fixed, "4 unfinished files") {
		t.Errorf("%+v", f)
	}
	for _, name := range left {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	for _, name := range append(kept, young) {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// The report for others holds nothing of the user's: no prompt, name, path or
// content, and not where the home directory is.
func TestDoctorBundleHoldsNoSecrets(t *testing.T) {
	data, _ := used(t)
	t.Setenv("SECRET_API_KEY", "secretkey")
	var file bytes.Buffer
	for _, broken := range []bool{false, true} {
		if broken {
			rename(t, filepath.Join(data, "blobs"), filepath.Join(data, "lost"))
			write(t, filepath.Join(data, "engine.db"), "secretgarbage")
		}
		file.Reset()
		visit(t, data, a2a.DoctorQuery{Bundle: func() (io.Writer, error) { return &file, nil }})
		z, err := gzip.NewReader(&file)
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		names := map[string]bool{}
		for r := tar.NewReader(z); ; {
			h, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			names[h.Name] = true
			if _, err := io.Copy(&all, r); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(map[string]bool{"agents-report/about.json": true, "agents-report/findings.json": true, "agents-report/store.json": true}, names); d != "" {
			t.Errorf("files (-want +got):\n%s", d)
		}
		text := all.String()
		for _, word := range []string{"secret", os.Getenv("HOME")} {
			if i := strings.Index(text, word); i >= 0 {
				t.Errorf("%q is in the report: %q", word, text[max(0, i-40):min(len(text), i+60)])
			}
		}
		for _, word := range []string{`"~/data`, `"name": "plans"`, `"tool_calls"`, `"schema": `} {
			if !strings.Contains(text, word) {
				t.Errorf("%q is not in the report", word)
			}
		}
	}
}

// The client of a doctor answers nothing else.
func TestBedside(t *testing.T) {
	client, closer, err := open(t.Context(), cli.Options{DataDir: filepath.Join(t.TempDir(), "data"), Unopened: true})
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	if _, err := a2a.Call(t.Context(), client, a2a.PlanList(), a2a.PlanListQuery{}, nil); !fault.Is(err, fault.Internal) {
		t.Errorf("got %v", err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// tighten gives a copied data directory the modes that it had.
func tighten(t *testing.T, dir string) {
	t.Helper()
	chmod(t, dir, 0o700)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		mode := os.FileMode(0o600)
		if e.IsDir() {
			mode = 0o700
		}
		chmod(t, filepath.Join(dir, e.Name()), mode)
	}
}
