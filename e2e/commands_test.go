package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// commands asks the program for all its commands: what completes at the end of
// a command and is not hidden.
func commands(t *testing.T, path ...string) (leaves []string) {
	t.Helper()
	out, err := exec.Command("agents", append(append([]string{"__complete"}, path...), "")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for line := range strings.Lines(string(out)) {
		name, _, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if ok {
			found = true
			leaves = append(leaves, commands(t, append(slices.Clone(path), name)...)...)
		}
	}
	if !found {
		return []string{strings.Join(path, " ")}
	}
	return leaves
}

// wordless are the commands that have no result for programs.
func wordless(command string) bool { return command == "help" || command == "completion" }

// TestEveryCommandHasAScript fails for a command that no script runs, and for
// one whose JSON no script compares with what it was.
func TestEveryCommandHasAScript(t *testing.T) {
	t.Setenv("AGENTS_DATA_DIR", t.TempDir()) // what is stored there completes too
	all := commands(t)
	if len(all) < 30 {
		t.Fatalf("only %d commands found: %v", len(all), all)
	}
	ran, compared := map[string]bool{}, map[string]bool{}
	scripts, err := filepath.Glob("script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("%d scripts (%v)", len(scripts), err)
	}
	for _, file := range scripts {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		script, _, _ := strings.Cut(string(text), "\n-- ")
		lines := strings.Split(script, "\n")
		for i, line := range lines {
			name := commandOf(line, all)
			if name == "" {
				continue
			}
			ran[name] = true
			if strings.Contains(line, "--format=json ") && i+2 < len(lines) &&
				comparesJSON(lines[i+1], lines[i+2]) {
				compared[name] = true
			}
		}
	}
	for _, name := range all {
		if !ran[name] {
			t.Errorf("no script runs agents %s", name)
		}
		if !compared[name] && !wordless(name) {
			t.Errorf("no script compares the JSON of agents %s", name)
		}
	}
}

// comparesJSON reports whether two lines write the output down and compare it.
func comparesJSON(normal, cmp string) bool {
	n, c := strings.Fields(normal), strings.Fields(cmp)
	return len(n) >= 3 && n[0] == "normal" && n[1] == "stdout" && len(c) == 3 && c[0] == "cmp" && c[1] == n[2]
}

// commandOf returns the command that a line of a script runs, "" for none.
func commandOf(line string, all []string) string {
	words := strings.Fields(line)
	at := slices.Index(words, "agents")
	if at < 0 || strings.HasPrefix(line, "#") {
		return ""
	}
	var plain []string
	for _, w := range words[at+1:] {
		if !strings.HasPrefix(w, "-") {
			plain = append(plain, w)
		}
	}
	for n := min(len(plain), 2); n > 0; n-- {
		if name := strings.Join(plain[:n], " "); slices.Contains(all, name) {
			return name
		}
	}
	return ""
}
