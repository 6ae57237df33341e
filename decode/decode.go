// Package decode reads what comes from outside strictly: unknown keys,
// duplicate keys, wrong types, several documents and oversized input are
// errors that name the file and the line. Every configuration file of the
// program is read here and nowhere else.
package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"github.com/cleveragents/agents/fault"
)

// MaxBytes is the largest configuration text that is read.
const MaxBytes = 1 << 20

var lineOf = regexp.MustCompile(`line (\d+): `)

// YAML decodes one YAML document into v. File is the name shown in errors.
// The error is of kind Invalid and starts with file:line.
func YAML(file string, data []byte, v any) error {
	if len(data) > MaxBytes {
		return fault.New(fault.Invalid, "%s:1: larger than %d bytes", file, MaxBytes)
	}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("%")) {
		return fault.New(fault.Invalid, "%s:1: YAML directives are not accepted", file)
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(v); err != nil {
		if errors.Is(err, io.EOF) {
			return fault.New(fault.Invalid, "%s:1: the file is empty", file)
		}
		return fault.New(fault.Invalid, "%s", yamlMessage(file, err))
	}
	var more yaml.Node
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return fault.New(fault.Invalid, "%s:%d: one document is expected, a second one starts here", file, max(more.Line, 1))
	}
	return nil
}

// yamlMessage turns the library's "yaml: unmarshal errors:\n  line 3: …" into
// file:line: text, one line a problem, in the words of the file.
func yamlMessage(file string, err error) string {
	var te *yaml.TypeError
	lines := []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	if errors.As(err, &te) {
		lines = te.Errors
	}
	for i, l := range lines {
		m := lineOf.FindStringSubmatchIndex(l)
		if m == nil {
			lines[i] = file + ":1: " + l
			continue
		}
		text := l[:m[0]] + l[m[1]:]
		lines[i] = fmt.Sprintf("%s:%s: %s", file, l[m[2]:m[3]], plainWords(text))
	}
	return strings.Join(lines, "\n")
}

var (
	unknownField = regexp.MustCompile(`^field (\S+) not found in type .*$`)
	wrongType    = regexp.MustCompile("^cannot unmarshal (\\S+)(?: `(.*)`)? into (\\S+)$")
	duplicateKey = regexp.MustCompile(`^mapping key (\S+) already defined at line (\d+)$`)
)

func plainWords(s string) string {
	if m := unknownField.FindStringSubmatch(s); m != nil {
		return fmt.Sprintf("unknown key %q", m[1])
	}
	if m := duplicateKey.FindStringSubmatch(s); m != nil {
		return fmt.Sprintf("the key %s is given twice (first on line %s)", m[1], m[2])
	}
	if m := wrongType.FindStringSubmatch(s); m != nil {
		return fmt.Sprintf("%s is not %s", orQuote(m[2], m[1]), typeWord(m[3]))
	}
	return s
}

func orQuote(value, tag string) string {
	switch {
	case value != "":
		return "`" + value + "`"
	case tag == "!!map":
		return "a mapping"
	case tag == "!!seq":
		return "a list"
	}
	return tag
}

func typeWord(goType string) string {
	switch {
	case goType == "string" || strings.HasSuffix(goType, "String"):
		return "a text"
	case goType == "bool":
		return "true or false"
	case strings.HasPrefix(goType, "int"), strings.HasPrefix(goType, "uint"):
		return "a whole number"
	case strings.HasPrefix(goType, "float"):
		return "a number"
	case strings.HasPrefix(goType, "[]"):
		return "a list"
	case strings.HasPrefix(goType, "map["):
		return "a mapping"
	}
	return "what this key takes (" + goType + ")"
}

// JSON decodes one JSON value into v. Duplicate keys, keys in another letter
// case, unknown keys and bad UTF-8 are errors of kind Invalid.
func JSON(what string, data []byte, v any) error {
	if err := json.Unmarshal(data, v, json.RejectUnknownMembers(true), json.MatchCaseInsensitiveNames(false)); err != nil {
		return fault.New(fault.Invalid, "%s: %s", what, jsonMessage(err))
	}
	return nil
}

// JSONValue checks that data is one strict JSON value and returns it in its
// canonical form (RFC 8785), so that equal values have equal bytes.
func JSONValue(what string, data []byte) ([]byte, error) {
	v := jsontext.Value(bytes.Clone(data))
	if err := v.Canonicalize(); err != nil {
		return nil, fault.New(fault.Invalid, "%s: %s", what, jsonMessage(err))
	}
	return v, nil
}

func jsonMessage(err error) string {
	s := strings.TrimPrefix(err.Error(), "json: ")
	return strings.TrimPrefix(s, "jsontext: ")
}
