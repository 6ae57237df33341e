// Package demo is the material of the demonstration: a small project with a
// bug that its own test finds, the action and the actors that mend it, and what
// the scripted model says. It does nothing by itself; the command line plays
// it through the same operations as everything else.
package demo

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cleveragents/agents/fault"
)

//go:embed project action.yaml builder.yaml strategist.yaml script.yaml
var files embed.FS

// Model is the name under which the scripted model finds Script.
const Model = "demo"

// Action is the name of the action in ActionFile.
const Action = "local/fix-price"

// The files of the demonstration that are read as configuration.
const (
	ActionFile = "action.yaml"
	ScriptFile = "script.yaml"
)

// ActorFiles are the actors of the demonstration.
func ActorFiles() []string { return []string{"strategist.yaml", "builder.yaml"} }

// Read returns one of the configuration files.
func Read(name string) ([]byte, error) {
	b, err := files.ReadFile(name)
	if err != nil {
		return nil, fault.New(fault.Internal, "demo: %w", err)
	}
	return b, nil
}

// Unconfined is ActionFile for a machine on which programs cannot be confined:
// those of the demonstration are its own.
func Unconfined() ([]byte, error) {
	b, err := Read(ActionFile)
	return append(b, "safety_profile:\n  require_checkpoints: true\n  max_retries_per_step: 3\n"...), err
}

// Write writes the project into dir, which must exist and be empty.
func Write(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fault.New(fault.Unavailable, "demo: %w", err)
	}
	defer root.Close()
	return fs.WalkDir(files, "project", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if filepath.Ext(path) == ".sh" {
			mode = 0o755
		}
		if err := root.WriteFile(filepath.Base(path), b, mode); err != nil {
			return fault.New(fault.Unavailable, "demo: %w", err)
		}
		return nil
	})
}
