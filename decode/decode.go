// Package decode reads what comes from outside strictly: unknown keys,
// duplicate keys, wrong types, several documents and oversized input are
// errors that name the file and the line. Every configuration file of the
// program is read here and nowhere else.
//
// YAML is checked in three passes, the cheap one first: the bytes (size, number
// of entries, encoding), the nodes (tags, aliases, depth, keys that the target
// does not have), and then the library's own decoding of the nodes. The first
// two bound what the third can cost: hostile text is refused within 100 ms and
// 64 MiB (T66 in docs/threats.txt).
package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/cleveragents/agents/fault"
)

// MaxBytes is the largest configuration text that is read.
const MaxBytes = 1 << 20

var lineOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`line (\d+): `) })

// YAML decodes one YAML document into v. File is the name shown in errors.
// The error is of kind Invalid and starts with file:line.
func YAML(file string, data []byte, v any) error {
	if len(data) > MaxBytes {
		return fault.New(fault.Invalid, "%s:1: larger than %d bytes", file, MaxBytes)
	}
	if err := checkText(file, data); err != nil {
		return err
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := d.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return fault.New(fault.Invalid, "%s:1: the file is empty", file)
		}
		return fault.New(fault.Invalid, "%s", yamlMessage(file, data, err))
	}
	w := walk{file: file}
	if err := w.cost(&doc, 0); err != nil {
		return err
	}
	if err := w.fits(&doc, reflect.TypeOf(v)); err != nil {
		return err
	}
	if err := doc.Decode(v); err != nil {
		return fault.New(fault.Invalid, "%s", yamlMessage(file, data, err))
	}
	switch err := d.Decode(&more); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return fault.New(fault.Invalid, "%s", yamlMessage(file, data, err))
	}
	return fault.New(fault.Invalid, "%s:%d: one document is expected, a second one starts here", file, max(more.Line, 1))
}

// yamlMessage turns the library's "yaml: unmarshal errors:\n  line 3: …" into
// file:line: text, one line a problem, in the words of the file.
func yamlMessage(file string, data []byte, err error) string {
	var te *yaml.TypeError
	lines := []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	if errors.As(err, &te) {
		lines = te.Errors
	}
	for i, l := range lines {
		m := lineOf().FindStringSubmatchIndex(l)
		if m == nil {
			lines[i] = fmt.Sprintf("%s:%d: %s", file, anchorLine(data, l), l)
			continue
		}
		text := l[:m[0]] + l[m[1]:]
		lines[i] = fmt.Sprintf("%s:%s: %s", file, l[m[2]:m[3]], plainWords(text))
	}
	return strings.Join(lines, "\n")
}

// anchorLine finds the line for the one message that comes without: an alias
// that has no anchor.
func anchorLine(data []byte, message string) int {
	if m := unknownAnchor().FindStringSubmatch(message); m != nil {
		before, _, _ := bytes.Cut(data, []byte("*"+m[1]))
		return 1 + bytes.Count(before, []byte("\n"))
	}
	return 1
}

var (
	unknownAnchor = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^unknown anchor '(.*)' referenced$`) })
	wrongType     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^cannot unmarshal (\\S+)(?: `(.*)`)? into (.+)$") })
	duplicateKey  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^mapping key (\S+) already defined at line (\d+)$`) })
)

func plainWords(s string) string {
	if m := duplicateKey().FindStringSubmatch(s); m != nil {
		return fmt.Sprintf("the key %s is given twice (first on line %s)", m[1], m[2])
	}
	if m := wrongType().FindStringSubmatch(s); m != nil {
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
	return "an empty value"
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
	return "what this key takes"
}
