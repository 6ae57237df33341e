// Package stock is the actions and actors that come with the program: YAML
// files like those a user writes, read by the same parsers.
package stock

import (
	"embed"
	"io/fs"
	"path"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/actor"
)

//go:embed action/*.yaml actor/*.yaml
var files embed.FS

// Actions returns the built-in actions, by file name.
func Actions() ([]action.Action, error) {
	return all("action", action.Parse)
}

// Actors returns the built-in actors, by file name.
func Actors() ([]actor.Config, error) {
	return all("actor", actor.Parse)
}

func all[T any](dir string, parse func(file string, data []byte) (T, error)) ([]T, error) {
	names, err := fs.Glob(files, path.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var out []T
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		v, err := parse("builtin:"+name, data)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}
