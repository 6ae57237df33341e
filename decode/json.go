package decode

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cleveragents/agents/fault"
)

// JSON decodes one JSON value into v. Duplicate keys, keys in another letter
// case, unknown keys and bad UTF-8 are errors of kind Invalid that start with
// what:line. The size is the caller's to bound.
func JSON(what string, data []byte, v any) error {
	if err := json.Unmarshal(data, v, json.RejectUnknownMembers(true), json.MatchCaseInsensitiveNames(false)); err != nil {
		return jsonFault(what, data, err)
	}
	return nil
}

// JSONValue checks that data is one strict JSON value and returns it in its
// canonical form (RFC 8785), so that equal values have equal bytes.
func JSONValue(what string, data []byte) ([]byte, error) {
	v := jsontext.Value(bytes.Clone(data))
	if err := v.Canonicalize(); err != nil {
		return nil, jsonFault(what, data, err)
	}
	return v, nil
}

// jsonFault puts the line where the library gives a byte offset, and says what
// is wrong in the words of the text.
func jsonFault(what string, data []byte, err error) error {
	var offset int64
	var text string
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &semantic) && (errors.Is(err, json.ErrUnknownName) || semantic.GoType != nil):
		offset, text = semantic.ByteOffset, semanticText(semantic)
	case errors.As(err, &syntax):
		offset = syntax.ByteOffset
		fallthrough
	default:
		text = strings.TrimPrefix(strings.TrimPrefix(err.Error(), "json: "), "jsontext: ")
	}
	line := 1 + bytes.Count(data[:min(max(offset, 0), int64(len(data)))], []byte("\n"))
	return fault.New(fault.Invalid, "%s:%d: %s", what, line, text)
}

func semanticText(e *json.SemanticError) string {
	if errors.Is(e.Err, json.ErrUnknownName) {
		return "unknown key " + quote(e.JSONPointer.LastToken())
	}
	value := "the value"
	switch {
	case e.JSONKind == '{':
		value = "a mapping"
	case e.JSONKind == '[':
		value = "a list"
	case len(e.JSONValue) > 0 && len(e.JSONValue) <= 80:
		value = string(e.JSONValue)
	case e.JSONKind == '"':
		value = "a text"
	case e.JSONKind == '0':
		value = "a number"
	case e.JSONKind == 't' || e.JSONKind == 'f' || e.JSONKind == 'n':
		value = e.JSONKind.String()
	}
	if e.JSONPointer == "" {
		return fmt.Sprintf("%s is not %s", value, typeWord(kindName(e.GoType)))
	}
	return fmt.Sprintf("%s: %s is not %s", e.JSONPointer, value, typeWord(kindName(e.GoType)))
}

// quote returns s in quotes, cut where nobody reads on.
func quote(s string) string {
	if len(s) > 80 {
		s = strings.ToValidUTF8(s[:80], "") + "…"
	}
	return strconv.Quote(s)
}

// kindName is the name that typeWord knows for a type of any name.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return "[]"
	case reflect.Map, reflect.Struct:
		return "map["
	}
	return t.Kind().String()
}
