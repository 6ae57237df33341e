package plan

import (
	"encoding/json"
	"path"
	"reflect"
	"strings"
)

// Some files are run by a tool without anybody asking for it: by git, an editor,
// a shell, a package manager or a CI service. A change of one is more than a
// change of text, so it is shown apart and approved apart. The lists name what
// common tools read; they are no boundary, which only a look at the whole diff
// is.

// execWhole are names that make any file of that name, or everything below a
// directory of that name, run by itself.
func execWhole() map[string]string {
	return map[string]string{
		".vscode": "editor", ".idea": "editor", ".zed": "editor", ".fleet": "editor", ".run": "editor", ".nova": "editor",
		".devcontainer": "development container", ".devcontainer.json": "development container", "devcontainer.json": "development container",
		".circleci": "CI", ".buildkite": "CI", ".woodpecker": "CI", ".woodpecker.yml": "CI", ".woodpecker.yaml": "CI",
		".gitlab-ci.yml": "CI", ".gitlab-ci.yaml": "CI", ".travis.yml": "CI", ".drone.yml": "CI", ".drone.yaml": "CI", ".cirrus.yml": "CI",
		"azure-pipelines.yml": "CI", "azure-pipelines.yaml": "CI", "bitbucket-pipelines.yml": "CI", "appveyor.yml": "CI", ".appveyor.yml": "CI",
		"cloudbuild.yaml": "CI", "cloudbuild.yml": "CI", "buildspec.yml": "CI", ".semaphore": "CI", ".teamcity": "CI",
		".husky": "git hook", ".githooks": "git hook", ".pre-commit-config.yaml": "git hook", ".pre-commit-hooks.yaml": "git hook",
		"lefthook.yml": "git hook", ".lefthook.yml": "git hook", ".lintstagedrc": "git hook", ".lintstagedrc.json": "git hook", ".overcommit.yml": "git hook",
		".gitattributes": "git configuration", ".gitmodules": "git configuration", ".gitconfig": "git configuration", ".lfsconfig": "git configuration",
		".envrc": "shell", ".bashrc": "shell", ".bash_profile": "shell", ".bash_login": "shell", ".bash_logout": "shell", ".bash_aliases": "shell",
		".profile": "shell", ".zshrc": "shell", ".zshenv": "shell", ".zprofile": "shell", ".zlogin": "shell", ".zlogout": "shell",
		".kshrc": "shell", ".mkshrc": "shell", ".cshrc": "shell", ".tcshrc": "shell", ".login": "shell", ".inputrc": "shell", "config.fish": "shell",
		"mise.toml": "shell", ".mise.toml": "shell", ".tool-versions": "shell", ".direnvrc": "shell",
		".vimrc": "editor", ".nvimrc": "editor", ".exrc": "editor", ".nvim.lua": "editor", ".emacs": "editor", ".dir-locals.el": "editor",
		".gdbinit": "debugger", ".lldbinit": "debugger",
		".mcp.json": "agent configuration", "mcp.json": "agent configuration", ".claude": "agent configuration", ".cursor": "agent configuration",
		".codex": "agent configuration", ".gemini": "agent configuration", ".agents": "agent configuration", ".aider.conf.yml": "agent configuration",
		".ripgreprc": "tool configuration", ".npmrc": "package manager", ".yarnrc": "package manager", ".yarnrc.yml": "package manager",
		".pnpmfile.cjs": "package manager", "pnpmfile.js": "package manager", ".bazelrc": "build", ".bundle": "package manager",
		"makefile": "build", "gnumakefile": "build", "bsdmakefile": "build", "justfile": "build", ".justfile": "build", "rakefile": "build",
		"taskfile.yml": "build", "taskfile.yaml": "build", "build.rs": "build", "setup.py": "build", "binding.gyp": "build",
		"magefile.go": "build", "sconstruct": "build", "wscript": "build", "procfile": "build",
	}
}

// execBelow are pairs of a directory and what lies in it.
func execBelow() map[string]string {
	return map[string]string{
		".github/workflows": "CI", ".github/actions": "CI", ".gitea/workflows": "CI", ".forgejo/workflows": "CI", ".gitlab/ci": "CI",
		".cargo/config": "build", ".cargo/config.toml": "build", ".yarn/releases": "package manager", ".yarn/plugins": "package manager",
		".config/fish": "shell", ".config/git": "git configuration", ".config/mise": "shell", "gradle/wrapper": "build", ".mvn/wrapper": "build",
	}
}

// gitHook reports a name that git runs in its directory of hooks, which a
// repository may keep under any other name.
func gitHook(name string) bool {
	switch name {
	case "applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg",
		"post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update", "proc-receive", "post-receive",
		"post-update", "reference-transaction", "push-to-checkout", "pre-auto-gc", "post-rewrite", "sendemail-validate", "fsmonitor-watchman",
		"post-index-change":
		return true
	}
	return false
}

// plainName is a name as a file system that ignores case would compare it.
func plainName(s string) string { return strings.TrimRight(strings.ToLower(s), ". ") }

// RunsByPath tells what would run a file at a path by itself, "" for nothing
// known.
func RunsByPath(p string) string {
	parts := strings.Split(p, "/")
	whole, below := execWhole(), execBelow()
	for i := range parts {
		parts[i] = plainName(parts[i])
		if w := whole[parts[i]]; w != "" {
			return w
		}
		if i > 0 {
			if w := below[parts[i-1]+"/"+parts[i]]; w != "" {
				return w
			}
			if parts[i-1] == "hooks" && gitHook(parts[i]) {
				return "git hook"
			}
		}
	}
	name := parts[len(parts)-1]
	switch {
	case strings.HasPrefix(name, "jenkinsfile"):
		return "CI"
	case path.Ext(name) == ".mk", strings.HasPrefix(name, "makefile.") && path.Ext(name) != ".md" && path.Ext(name) != ".txt":
		return "build"
	}
	return ""
}

// scriptKeys are the members of a package's description whose values are run.
func scriptKeys(name string) []string {
	switch plainName(name) {
	case "package.json":
		return []string{"scripts", "husky", "lint-staged", "simple-git-hooks", "gypfile", "bin"}
	case "composer.json":
		return []string{"scripts", "bin"}
	case "deno.json", "deno.jsonc":
		return []string{"tasks"}
	}
	return nil
}

// Executable tells why a change makes something run by itself that did not, or
// that ran otherwise; "" when it does not. The bytes are read for descriptions
// of packages only; one that is not JSON counts as changed.
func Executable(c Change, read func(FileState) ([]byte, error)) (why string, err error) {
	if why := RunsByPath(c.Path); why != "" {
		return why, nil
	}
	if c.After.Kind == Regular && c.After.Mode&0o111 != 0 && (c.Before.Kind != Regular || c.After.Mode&^c.Before.Mode&0o111 != 0) {
		return "new executable bit", nil
	}
	keys := scriptKeys(path.Base(c.Path))
	if keys == nil || c.After.Kind == Absent {
		return "", nil
	}
	was, okWas, err := members(c.Before, keys, read)
	if err != nil {
		return "", err
	}
	is, okIs, err := members(c.After, keys, read)
	if err != nil {
		return "", err
	}
	if !okWas || !okIs || !reflect.DeepEqual(was, is) {
		return "package scripts", nil
	}
	return "", nil
}

// maxDescription is the largest description of a package that is looked into.
const maxDescription = 4 << 20

func members(s FileState, keys []string, read func(FileState) ([]byte, error)) (out map[string]any, ok bool, err error) {
	out = map[string]any{}
	if s.Kind == Absent {
		return out, true, nil
	}
	if s.Kind != Regular || s.Size > maxDescription {
		return nil, false, nil
	}
	b, err := read(s)
	if err != nil {
		return nil, false, err
	}
	var all map[string]any
	if json.Unmarshal(b, &all) != nil {
		return nil, false, nil
	}
	for _, k := range keys {
		if v, there := all[k]; there {
			out[k] = v
		}
	}
	return out, true, nil
}
