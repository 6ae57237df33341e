package cli

import (
	"strings"

	"github.com/cleveragents/agents/fault"
)

// Format is how a result is written.
type Format string

// The formats. Rich, Plain and Table are for people, the others for programs.
const (
	Rich  Format = "rich"
	Plain Format = "plain"
	Table Format = "table"
	JSON  Format = "json"
	YAML  Format = "yaml"
	JSONL Format = "jsonl"
)

func formats() []Format { return []Format{Rich, Plain, Table, JSON, YAML, JSONL} }

func formatNames() string {
	var names []string
	for _, f := range formats() {
		names = append(names, string(f))
	}
	return strings.Join(names, "|")
}

func parseFormat(s string) (Format, error) {
	for _, f := range formats() {
		if string(f) == s {
			return f, nil
		}
	}
	return "", fault.New(fault.Invalid, "--format %q is not one of %s", s, formatNames())
}

// human reports whether f is read by a person.
func (f Format) human() bool { return f == Rich || f == Plain || f == Table }

// formatIn finds the format in raw arguments, so that an error in parsing them
// is written in the format that was asked for. It returns "" for none.
func formatIn(args []string) (f Format) {
	for i, arg := range args {
		if arg == "--" {
			break
		}
		switch name, _, _ := strings.Cut(arg, "="); name {
		case "--jq", "--template":
			f = JSON
		}
		value, ok := strings.CutPrefix(arg, "--format=")
		if arg == "--format" && i+1 < len(args) {
			value, ok = args[i+1], true
		}
		if f, err := parseFormat(value); ok && err == nil {
			return f
		}
	}
	return f
}
