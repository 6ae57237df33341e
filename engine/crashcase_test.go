package engine_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/demo"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/llm"
)

// crashCase is a plan that is killed at every point.
type crashCase struct {
	files func(t *testing.T, tree string)
	use   engine.UseInput
	world func(tb testing.TB, data, tree string) *world
	// check looks at what a finished plan left in the tree.
	check func(t *testing.T, tree string)
	asks  bool // a person says yes to what it asks
}

func crashCases() map[string]crashCase {
	return map[string]crashCase{
		"command": {
			files: func(t *testing.T, tree string) {
				write(t, tree, map[string]string{"a.txt": "one\n", "log.txt": "", "gone.txt": "x\n"})
			},
			use: engine.UseInput{Action: "builtin/command", Profile: "ci", Args: map[string]string{
				// Not idempotent: a run that is not put back before it is run again
				// shows, and so does litter of the validation.
				"command":  "echo line >> log.txt; sed -i s/one/two/ a.txt; rm gone.txt",
				"validate": "test $(wc -l < log.txt) = 1; v=$?; echo litter >> log.txt; echo x > litter; exit $v",
			}},
			world: func(tb testing.TB, data, tree string) *world { return newWorld(tb, data, tree, noModel{}, nil, nil) },
			check: func(t *testing.T, tree string) {
				if diff := cmp.Diff(map[string]string{"log.txt": "line\n", "a.txt": "two\n"}, files(t, tree)); diff != "" {
					t.Errorf("the tree:\n%s", diff)
				}
			},
		},
		"model": {
			files: func(t *testing.T, tree string) { must(t, os.MkdirAll(tree, 0o755)); must(t, demo.Write(tree)) },
			use:   engine.UseInput{Action: demo.Action, Profile: "ci"},
			world: func(tb testing.TB, data, tree string) *world {
				return demoWorld(tb, data, tree, func(p llm.Provider) llm.Provider {
					p.Transport = &tally{tb, filepath.Join(filepath.Dir(data), "requests"), p.Transport}
					return p
				})
			},
			check: func(t *testing.T, tree string) {
				if out, err := exec.Command("sh", "-c", "cd '"+tree+"' && sh test.sh").CombinedOutput(); err != nil {
					t.Errorf("the demonstration is not mended: %s", out)
				}
			},
		},
		// Two models, a loop until a test passes, and a question to a person.
		"graph": {
			files: func(t *testing.T, tree string) { write(t, tree, map[string]string{"z.txt": "z\n"}) },
			use:   engine.UseInput{Action: "local/task", Profile: "ci"},
			asks:  true,
			world: func(tb testing.TB, data, tree string) *world {
				return graphWorldOver(tb, data, tree, func(next http.RoundTripper) http.RoundTripper {
					return &tally{tb, filepath.Join(filepath.Dir(data), "requests"), next}
				}, coding(tb), task(), fixing, reviewing)
			},
			check: func(t *testing.T, tree string) {
				if diff := cmp.Diff(map[string]string{"a.txt": "good\n", "z.txt": "z\n"}, files(t, tree)); diff != "" {
					t.Errorf("the tree:\n%s", diff)
				}
			},
		},
		// A model asks a person, and goes by the answer.
		"question": {
			files: func(t *testing.T, tree string) { write(t, tree, map[string]string{"z.txt": "z\n"}) },
			use:   engine.UseInput{Action: "local/task", Profile: "auto"},
			asks:  true,
			world: func(tb testing.TB, data, tree string) *world {
				return graphWorldOver(tb, data, tree, func(next http.RoundTripper) http.RoundTripper {
					return &tally{tb, filepath.Join(filepath.Dir(data), "requests"), next}
				}, asking(tb, colours), task())
			},
			check: func(t *testing.T, tree string) {
				if diff := cmp.Diff(map[string]string{"a.txt": "blue\n", "z.txt": "z\n"}, files(t, tree)); diff != "" {
					t.Errorf("the tree:\n%s", diff)
				}
			},
		},
	}
}
