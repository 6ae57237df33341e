// Package stock is the actions and actors that come with the program: YAML
// files like those a user writes, read by the same parsers. The one thing that
// they have more is where the instructions of their models are: a prompt that is
// "@" and a name is the Markdown file of that name.
package stock

import (
	"embed"
	"io/fs"
	"path"
	"strings"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
)

//go:embed action/*.yaml actor/*.yaml prompt/*.md
var files embed.FS

// Actions returns the built-in actions, by file name.
func Actions() ([]action.Action, error) {
	return all("action", action.Parse)
}

// Actors returns the built-in actors, by file name.
func Actors() ([]actor.Config, error) {
	return all("actor", func(file string, data []byte) (actor.Config, error) {
		c, err := actor.Parse(file, data)
		if err != nil {
			return c, err
		}
		if c.Prompt, err = prompt(c.Prompt); err != nil {
			return c, err
		}
		for _, n := range c.Graph {
			if n.Model == nil {
				continue
			}
			if n.Model.Prompt, err = prompt(n.Model.Prompt); err != nil {
				return c, err
			}
		}
		return c, nil
	})
}

// prompt returns the text that a prompt stands for.
func prompt(s string) (string, error) {
	name, ok := strings.CutPrefix(s, "@")
	if !ok {
		return s, nil
	}
	b, err := files.ReadFile(path.Join("prompt", name))
	if err != nil {
		return "", fault.New(fault.Internal, "built-in prompt: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
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
