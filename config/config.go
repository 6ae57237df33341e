// Package config is what a person can set about the program: one table of keys,
// the layers that may set them, and where each value came from.
//
// A file is TOML. Parse walks it expression by expression, so that every refusal
// has a line, and takes nothing that the table does not name: no unknown key, no
// value of another type, no key twice, no secret. Set and Unset change the text
// of one line and read the outcome again before they return it; comments and
// order stay. Settings lays the layers over each other, weakest first:
//
//	default < data < user < tree < project < environment < flag
//
// Tree is a file that came with a project's own files. Whoever wrote it may be
// hostile, so it may set only keys that the table opens to it, and those only
// lower than the person has them.
//
// The package reads no file and no environment, and does not promise that a
// value means anything outside, such as that a named project exists.
package config

import (
	"fmt"
	"slices"
)

// Layer is who said a value, weakest first.
type Layer int

// The layers.
const (
	Default Layer = iota
	Data          // kept with the data, by a command of its own
	User          // the person's file
	Tree          // a file among the project's own
	Project       // what the person set for one project
	Env
	Flag
)

// String names the layer.
func (l Layer) String() string {
	return [...]string{"default", "data", "user", "tree", "project", "environment", "flag"}[l]
}

// Origin is where a value came from.
type Origin struct {
	Layer Layer
	File  string // of User and Tree
	Line  int
	Name  string // the variable, the flag, the project, or the command
}

// String says it in the form in which a person finds the place.
func (o Origin) String() string {
	switch o.Layer {
	case User, Tree:
		return fmt.Sprintf("%s:%d", o.File, o.Line)
	case Default:
		return "default"
	case Data:
		return o.Name
	}
	return o.Layer.String() + " " + o.Name
}

// Entry is a value that a layer gives to a key, in the form that Key.Check
// returns.
type Entry struct {
	Key    string
	Value  string
	Origin Origin
}

// Type is what kind of value a key takes.
type Type int

// The types.
const (
	Choice Type = iota // one of Key.Values
	Word               // any text without control characters
	Path               // an absolute path, or one of Key.Values
	Paths              // absolute paths, none of them /, with colons between them
	Hosts              // none, any, or hosts with commas between them
	Whole              // a whole number
	Money              // US dollars
	Span               // a time such as 90s or 5m
)

// String names the type.
func (t Type) String() string {
	return [...]string{"choice", "word", "path", "paths", "hosts", "whole number", "dollars", "time"}[t]
}

// None is the value of a limit that is not there.
const None = "none"

// Key is one thing that can be set.
type Key struct {
	Name    string
	Doc     string // what it does, in a sentence
	Type    Type
	Default string   // "" when nothing counts until it is set
	Values  []string // of a Choice; words that a Path may be instead
	Least   float64  // of a number, or of a time in seconds
	Most    float64
	None    bool    // None may be said: no limit
	Layers  []Layer // that may set it, Default left out
	Env     string  // a variable of its own, beside EnvName
	EnvSays string  // what that variable means, whatever it holds; "" for what it holds
	Flag    string  // without dashes
	Instead string  // how it is set where a file may not
}

// May reports whether the layer may set the key.
func (k Key) May(l Layer) bool { return slices.Contains(k.Layers, l) }

// Find returns the key of that name.
func Find(name string) (Key, bool) {
	for _, k := range Keys() {
		if k.Name == name {
			return k, true
		}
	}
	return Key{}, false
}
