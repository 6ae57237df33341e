package cli

import (
	"bytes"
	jsonstd "encoding/json"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"go.yaml.in/yaml/v3"

	"github.com/cleveragents/agents/fault"
)

// encodeJSON returns v as JSON on one line, or indented. A list that is not
// there is written as an empty one; what a terminal would act on is escaped
// inside the strings.
func encodeJSON(v any, indent bool) ([]byte, error) {
	opts := []json.Options{
		json.Deterministic(true),
		jsonv1.OmitEmptyWithLegacySemantics(true),
		jsontext.AllowInvalidUTF8(true),
		// A number that comes from a record, digit by digit, is no text.
		json.WithMarshalers(json.MarshalToFunc(func(e *jsontext.Encoder, n jsonstd.Number) error {
			return e.WriteValue(jsontext.Value(n))
		})),
	}
	if indent {
		opts = append(opts, jsontext.WithIndent("  "))
	}
	b, err := json.Marshal(v, opts...)
	if err != nil {
		return nil, fault.New(fault.Internal, "encode the result: %w", err)
	}
	return append(escapeQuoted(b), '\n'), nil
}

// encodeYAML returns v as YAML with the keys and the order of its JSON.
func encodeYAML(v any) ([]byte, error) {
	b, err := encodeJSON(v, false)
	if err != nil {
		return nil, err
	}
	d := jsontext.NewDecoder(bytes.NewReader(b))
	n, err := yamlNode(d)
	if err != nil {
		return nil, fault.New(fault.Internal, "encode the result: %w", err)
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(n); err != nil {
		return nil, fault.New(fault.Internal, "encode the result: %w", err)
	}
	return escapeQuoted(out.Bytes()), nil
}

// yamlNode reads one JSON value as a YAML node.
func yamlNode(d *jsontext.Decoder) (*yaml.Node, error) {
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case '{':
		return yamlCollection(d, &yaml.Node{Kind: yaml.MappingNode}, '}')
	case '[':
		return yamlCollection(d, &yaml.Node{Kind: yaml.SequenceNode}, ']')
	case '"':
		n := &yaml.Node{}
		n.SetString(t.String())
		// Only a double-quoted text can spell out what is hidden.
		if strings.ContainsFunc(t.String(), func(r rune) bool { return r != '\n' && hidden(r) }) {
			n.Style = yaml.DoubleQuotedStyle
		}
		return n, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: t.String()}, nil
}

func yamlCollection(d *jsontext.Decoder, n *yaml.Node, end jsontext.Kind) (*yaml.Node, error) {
	for d.PeekKind() != end {
		if d.PeekKind() == 0 {
			return nil, io.ErrUnexpectedEOF
		}
		c, err := yamlNode(d)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, c)
	}
	_, err := d.ReadToken()
	return n, err
}
