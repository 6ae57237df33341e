package config

import (
	"bytes"
	"slices"
	"strings"

	"github.com/cleveragents/agents/fault"
)

// Set returns the text of a file with the key set to the value, and the value as
// it is kept. One line is changed or added; everything else stays as it was. A
// text that has errors is not touched.
func Set(file string, data []byte, layer Layer, key, value string) (out []byte, kept string, err error) {
	k, err := settable(key, layer)
	if err != nil {
		return nil, "", err
	}
	if kept, err = k.Check(value); err != nil {
		return nil, "", err
	}
	t := read(file, data, layer)
	if len(t.errs) > 0 {
		return nil, "", t.errs[0]
	}
	out = t.with(k, kept)
	return out, kept, t.proved(out, key, kept)
}

// Unset returns the text of a file without the line that sets the key, and
// whether there was one.
func Unset(file string, data []byte, layer Layer, key string) (out []byte, was bool, err error) {
	if _, err := settable(key, layer); err != nil {
		return nil, false, err
	}
	t := read(file, data, layer)
	if len(t.errs) > 0 {
		return nil, false, t.errs[0]
	}
	i := t.find(key)
	if i < 0 {
		return data, false, nil
	}
	s := t.spots[i]
	out = slices.Concat(data[:s.line], data[after(data, s.end):])
	return out, true, t.proved(out, key, "")
}

// settable returns the key, if the layer may set it.
func settable(key string, layer Layer) (Key, error) {
	k, ok := Find(key)
	if !ok {
		return k, Unknown(key)
	}
	if !k.May(layer) {
		return k, k.refuseLayer(layer)
	}
	return k, nil
}

// with returns the text with the key set: where it is set already; else below
// the last key of its section, written as that one; else below the section's
// header; else in a new section at the end.
func (t *text) with(k Key, value string) []byte {
	v := []byte(k.toml(value))
	if i := t.find(k.Name); i >= 0 {
		s := t.spots[i]
		return slices.Concat(t.data[:s.value], v, t.data[s.value+s.len:])
	}
	section, last, _ := strings.Cut(k.Name, ".")
	line := []byte(last + " = " + string(v))
	at := -1
	for i, e := range t.entries {
		if strings.HasPrefix(e.Key, section+".") {
			s := t.spots[i]
			at = after(t.data, s.end)
			line = slices.Concat(t.data[s.line:s.last], []byte(last), []byte(" = "), v)
		}
	}
	for _, h := range t.tables {
		if at < 0 && h.name == section {
			at = h.line
		}
	}
	if at < 0 {
		at = len(t.data)
		line = append([]byte("["+section+"]"+t.newline()), line...)
		if len(bytes.TrimSpace(t.data)) > 0 {
			line = append([]byte(t.newline()), line...)
		}
	}
	if at > 0 && t.data[at-1] != '\n' {
		line = append([]byte(t.newline()), line...)
	}
	return slices.Concat(t.data[:at], line, []byte(t.newline()), t.data[at:])
}

// newline is how the file ends its lines.
func (t *text) newline() string {
	if bytes.Contains(t.data, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// proved reads the changed text and makes sure that it differs in that key only.
func (t *text) proved(out []byte, key, value string) error {
	want := map[string]string{}
	for _, e := range t.entries {
		want[e.Key] = e.Value
	}
	if delete(want, key); value != "" {
		want[key] = value
	}
	got := read(t.file, out, t.layer)
	same := len(got.errs) == 0 && len(got.entries) == len(want)
	for _, e := range got.entries {
		same = same && want[e.Key] == e.Value
	}
	if !same {
		return fault.New(fault.Invalid, "%s: %s cannot be changed by itself in this text", t.file, key).
			WithHint("agents config edit")
	}
	return nil
}
