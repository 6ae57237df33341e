package config

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/cleveragents/agents/fault"
)

// The bounds of a file. The parser keeps a node for each element of a list, and
// calls itself for each list in a list.
const (
	MaxBytes    = 1 << 20
	maxElements = 40_000 // bytes that can begin an element
	maxOpen     = 1_000  // bytes that can open a list or a table
	maxProblems = 20     // that are told of one file
)

// text is a file that was read: what it sets, and where in the text.
type text struct {
	file    string
	layer   Layer
	data    []byte
	entries []Entry
	spots   []spot // of the entries
	tables  []table
	errs    []error
}

// spot is where an entry is written, in bytes.
type spot struct {
	line, end  int // from the line's first byte to after the whole expression
	key        int // first byte of the key as it is written
	last       int // first byte of the key's last part
	value, len int
}

// table is a header.
type table struct {
	name string
	line int // first byte of the line after it
}

// Parse returns what a file sets, in the order of its lines. The error of the
// first thing that is wrong has the file and the line; Problems returns all.
func Parse(file string, data []byte, layer Layer) ([]Entry, error) {
	t := read(file, data, layer)
	if len(t.errs) > 0 {
		return nil, t.errs[0]
	}
	return t.entries, nil
}

// Problems returns what is wrong with a file, not more than a screen of it.
func Problems(file string, data []byte, layer Layer) []error {
	return read(file, data, layer).errs
}

func read(file string, data []byte, layer Layer) *text {
	t := &text{file: file, layer: layer, data: data}
	if err := bounded(data); err != nil {
		t.errs = []error{fault.New(fault.Invalid, "%s: %w", file, err)}
		return t
	}
	p := unstable.Parser{}
	p.Reset(data[:len(data):len(data)]) // its offsets are counted from the end
	lines := counter{data: data}
	section, known := "", true
	for p.NextExpression() && len(t.errs) < maxProblems {
		e := p.Expression()
		parts, first, last := names(e.Key())
		line := lines.at(first)
		switch e.Kind {
		case unstable.Table:
			section = strings.Join(parts, ".")
			t.tables = append(t.tables, table{section, after(data, last)})
			if known = isSection(section); !known {
				t.refuse(line, unknownSection(section))
			}
		case unstable.ArrayTable:
			known = false
			t.refuse(line, fault.New(fault.Invalid, "[[%s]]: no key takes a list of tables", clip(strings.Join(parts, "."))))
		case unstable.KeyValue:
			if !known && !soundsSecret(parts[len(parts)-1]) {
				continue // the section was refused
			}
			name := strings.Join(parts, ".")
			if section != "" {
				name = section + "." + name
			}
			v := e.Value()
			value, err := t.value(name, v)
			if err == nil && t.find(name) >= 0 {
				err = fault.New(fault.Invalid, "%s is set a second time; the first is in line %d", name, t.entries[t.find(name)].Origin.Line)
			}
			if err != nil {
				t.refuse(line, err)
				continue
			}
			t.entries = append(t.entries, Entry{name, value, Origin{Layer: layer, File: file, Line: line}})
			t.spots = append(t.spots, spot{
				line: bytes.LastIndexByte(data[:first], '\n') + 1, end: int(v.Raw.Offset + v.Raw.Length),
				key: first, last: last, value: int(v.Raw.Offset), len: int(v.Raw.Length),
			})
		}
	}
	if len(t.errs) == 0 {
		t.refuseSyntax()
	} else if err := p.Error(); err != nil {
		t.errs = append(t.errs, fault.New(fault.Invalid, "%s: %w", file, err))
	}
	return t
}

func (t *text) find(name string) int {
	for i, e := range t.entries {
		if e.Key == name {
			return i
		}
	}
	return -1
}

func (t *text) refuse(line int, err error) {
	t.errs = append(t.errs, fault.New(fault.Invalid, "%s:%d: %w", t.file, line, err))
}

// refuseSyntax has the whole text judged by the library, which also knows the
// rules about tables that are defined twice.
func (t *text) refuseSyntax() {
	var all map[string]any
	err := toml.Unmarshal(t.data, &all)
	if err == nil {
		return
	}
	line := 1
	var at *toml.DecodeError
	if errors.As(err, &at) {
		line, _ = at.Position()
	}
	say := strings.TrimPrefix(err.Error(), "toml: ")
	if looksSecret(say) {
		say = "not TOML"
	}
	t.refuse(line, fault.New(fault.Invalid, "%s", clip(say)))
}

// value returns the checked value of a key.
func (t *text) value(name string, v *unstable.Node) (string, error) {
	if v.Kind == unstable.String && looksSecret(string(v.Data)) {
		return "", secretFault(clip(name))
	}
	k, ok := Find(name)
	if !ok {
		if v.Kind == unstable.InlineTable && isSection(name) {
			return "", fault.New(fault.Invalid, "%s: write its keys in lines of their own below [%s]", name, name)
		}
		return "", Unknown(name)
	}
	if !k.May(t.layer) {
		return "", k.refuseLayer(t.layer)
	}
	raw := string(v.Data)
	wrong := func() (string, error) {
		return "", fault.New(fault.Invalid, "%s: %s is not %s", k.Name, kindWord(v.Kind), k.Wants())
	}
	number := k.Type == Whole || k.Type == Money
	switch {
	case v.Kind == unstable.String && (!number || k.None && raw == None):
	case v.Kind == unstable.Integer && number:
		n, err := strconv.ParseInt(strings.ReplaceAll(raw, "_", ""), 0, 64)
		if err != nil {
			return wrong()
		}
		raw = strconv.FormatInt(n, 10)
	case v.Kind == unstable.Float && k.Type == Money:
		raw = strings.ReplaceAll(raw, "_", "")
	default:
		return wrong()
	}
	return k.Check(raw)
}

// refuseLayer says why a layer may not set the key, and how it is set instead.
func (k Key) refuseLayer(l Layer) error {
	switch {
	case l == Tree:
		return fault.New(fault.Invalid, "the files of a project may not set %s", k.Name).WithCode("ConfigDenied").
			WithHint("take the line out; what you want yourself belongs into your own configuration: agents config set %s …", k.Name)
	case l == Project:
		return fault.New(fault.Invalid, "%s cannot be set for one project", k.Name).WithHint("agents config set %s … sets it for all", k.Name)
	case k.Instead != "":
		return fault.New(fault.Invalid, "%s is not kept in the configuration file", k.Name).WithHint("set it with: %s", k.Instead)
	}
	return fault.New(fault.Invalid, "%s cannot be set here (%s)", k.Name, l)
}

func kindWord(k unstable.Kind) string {
	switch k {
	case unstable.String:
		return "a text in quotes"
	case unstable.Bool:
		return "true or false"
	case unstable.Integer:
		return "a whole number"
	case unstable.Float:
		return "a fraction"
	case unstable.Array:
		return "a list"
	case unstable.InlineTable:
		return "a table"
	}
	return "a date or a time of day"
}

// names returns the parts of a key with where the first and the last begin.
func names(it unstable.Iterator) (parts []string, first, last int) {
	first = -1
	for it.Next() {
		n := it.Node()
		last = int(n.Raw.Offset)
		if first < 0 {
			first = last
		}
		parts = append(parts, string(n.Data))
	}
	return parts, first, last
}

// after is the first byte of the line below that of i.
func after(data []byte, i int) int {
	if n := bytes.IndexByte(data[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(data)
}

// counter tells the line of offsets that only grow.
type counter struct {
	data     []byte
	done, nl int
}

func (c *counter) at(offset int) int {
	c.nl += bytes.Count(c.data[c.done:offset], []byte("\n"))
	c.done = offset
	return c.nl + 1
}

// bounded refuses what would cost too much to read.
func bounded(data []byte) error {
	if len(data) > MaxBytes || len(data) > math.MaxInt32 {
		return fault.New(fault.Invalid, "more than %d bytes", MaxBytes)
	}
	elements, open := 0, 0
	for _, c := range data {
		switch c {
		case '[', '{':
			open++
			elements++
		case ',':
			elements++
		}
	}
	if elements > maxElements || open > maxOpen {
		return fault.New(fault.Invalid, "too many lists and tables")
	}
	return nil
}

func isSection(name string) bool {
	for _, k := range Keys() {
		if strings.HasPrefix(k.Name, name+".") {
			return true
		}
	}
	return false
}
