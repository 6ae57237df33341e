package plan_test

import (
	"errors"
	"testing"

	"github.com/cleveragents/agents/plan"
)

// T11: the paths that something runs by itself, in any letter case, at any depth.
func TestRunsByPath(t *testing.T) {
	for _, p := range []string{
		".vscode/tasks.json", ".VSCode/Tasks.json", "sub/.vscode/settings.json", ".idea/workspace.xml", ".envrc", "a/b/.ENVRC", ".envrc.", ".mcp.json",
		".devcontainer/devcontainer.json", ".devcontainer.json", ".github/workflows/ci.yml", ".GitHub/Workflows/ci.yml", "x/.github/actions/a/action.yml",
		".gitlab-ci.yml", ".circleci/config.yml", "Jenkinsfile", "jenkinsfile.release", ".travis.yml", "azure-pipelines.yml", ".gitea/workflows/x.yaml",
		"Makefile", "makefile", "GNUmakefile", "rules.mk", "Makefile.am", "justfile", ".gitattributes", "sub/.gitattributes", ".gitmodules", ".gitconfig",
		".bashrc", ".zshrc", ".profile", ".config/fish/config.fish", ".husky/pre-commit", ".githooks/x", "tools/hooks/pre-push", ".pre-commit-config.yaml",
		".npmrc", ".yarnrc.yml", ".yarn/releases/yarn.cjs", ".cargo/config.toml", "build.rs", "setup.py", ".claude/settings.json", ".cursor/mcp.json",
		".agents/config.toml", ".vimrc", ".gdbinit", "gradle/wrapper/gradle-wrapper.properties", ".vscode ",
	} {
		if plan.RunsByPath(p) == "" {
			t.Errorf("%q is not listed", p)
		}
	}
	for _, p := range []string{
		"README.md", "main.go", "docs/makefile.md", ".gitignore", ".github/ISSUE_TEMPLATE/bug.md", "hooks/useThing.ts", "src/hooks/index.js",
		"envrc", "vscode/tasks.json", "package.json", "profile", "workflows/ci.yml", ".editorconfig",
	} {
		if why := plan.RunsByPath(p); why != "" {
			t.Errorf("%q is listed: %s", p, why)
		}
	}
}

// T11: what a change does, and not only where.
func TestExecutable(t *testing.T) {
	const file, program = 0o644, 0o755
	texts := map[string]string{
		"plain": `{"name":"x","version":"1"}`, "newer": `{"name":"x","version":"2"}`,
		"scripts": `{"name":"x","scripts":{"postinstall":"curl evil"}}`, "sorted": `{"scripts":{"postinstall":"curl evil"},"name":"y"}`,
		"other": `{"scripts":{"postinstall":"true"}}`, "broken": `{"scripts":`, "tasks": `{"tasks":{"a":"b"}}`,
	}
	state := func(name string, mode uint32) plan.FileState {
		switch name {
		case "":
			return plan.FileState{Kind: plan.Absent}
		case "link":
			return plan.FileState{Kind: plan.Symlink, Hash: "plain"}
		}
		return plan.FileState{Kind: plan.Regular, Mode: mode, Hash: name, Size: int64(len(texts[name]))}
	}
	read := func(s plan.FileState) ([]byte, error) { return []byte(texts[s.Hash]), nil }
	tests := []struct {
		path          string
		was, is       string
		wasMode, mode uint32
		want          string
	}{
		{"a.txt", "plain", "newer", file, file, ""},
		{"run.sh", "plain", "plain", file, program, "new executable bit"},
		{"run.sh", "", "plain", 0, program, "new executable bit"},
		{"run.sh", "link", "plain", 0, 0o645, "new executable bit"},
		{"run.sh", "plain", "newer", program, program, ""},
		{"run.sh", "plain", "plain", program, file, ""},
		{"run.sh", "plain", "plain", 0o744, program, "new executable bit"},
		{"Makefile", "plain", "", file, 0, "build"},
		{"package.json", "plain", "newer", file, file, ""},
		{"package.json", "plain", "scripts", file, file, "package scripts"},
		{"sub/Package.JSON", "plain", "scripts", file, file, "package scripts"},
		{"package.json", "scripts", "sorted", file, file, ""},
		{"package.json", "scripts", "other", file, file, "package scripts"},
		{"package.json", "scripts", "plain", file, file, "package scripts"},
		{"package.json", "", "scripts", 0, file, "package scripts"},
		{"package.json", "", "plain", 0, file, ""},
		{"package.json", "plain", "broken", file, file, "package scripts"},
		{"package.json", "plain", "link", file, 0, "package scripts"},
		{"deno.json", "plain", "tasks", file, file, "package scripts"},
		{"composer.json", "plain", "scripts", file, file, "package scripts"},
	}
	for _, tt := range tests {
		got, err := plan.Executable(plan.Change{Path: tt.path, Before: state(tt.was, tt.wasMode), After: state(tt.is, tt.mode)}, read)
		if got != tt.want || err != nil {
			t.Errorf("%s from %q to %q: %q, %v, want %q", tt.path, tt.was, tt.is, got, err, tt.want)
		}
	}
	lost := errors.New("lost")
	_, err := plan.Executable(plan.Change{Path: "package.json", Before: state("plain", file), After: state("scripts", file)},
		func(plan.FileState) ([]byte, error) { return nil, lost })
	if !errors.Is(err, lost) {
		t.Errorf("bytes that are lost: %v", err)
	}
}
