package store

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// A column ties one field of a record to its place in a table. The same list
// of columns writes a record and reads it back, so that the two cannot differ.
type column struct {
	name string
	cell cell
	// fixed marks a part of the record's identity: set once, at insert.
	fixed bool
}

// cell reads and writes one field through the few types that both databases
// have: text, whole number, float, truth and NULL.
type cell interface {
	get() (driver.Value, error)
	set(v any) error // v is what the driver returned
}

func (c column) fix() column { c.fixed = true; return c }

// Scan implements sql.Scanner.
func (c column) Scan(v any) error {
	if err := c.cell.set(v); err != nil {
		return fmt.Errorf("column %s: %w", c.name, err)
	}
	return nil
}

func text[T ~string](name string, p *T) column {
	return column{name: name, cell: textCell[T]{p, false}}
}

// link is a text that refers to another record; "" is NULL.
func link[T ~string](name string, p *T) column { return column{name: name, cell: textCell[T]{p, true}} }

type textCell[T ~string] struct {
	p        *T
	nullable bool
}

func (c textCell[T]) get() (driver.Value, error) {
	if c.nullable && *c.p == "" {
		return nil, nil
	}
	return string(*c.p), nil
}

func (c textCell[T]) set(v any) error {
	s, err := asText(v)
	*c.p = T(s)
	return err
}

func number[T ~int | ~int64 | ~uint32](name string, p *T) column {
	return column{name: name, cell: numberCell[T]{p}}
}

type numberCell[T ~int | ~int64 | ~uint32] struct{ p *T }

func (c numberCell[T]) get() (driver.Value, error) { return int64(*c.p), nil }

func (c numberCell[T]) set(v any) error {
	n, ok := v.(int64)
	if !ok || int64(T(n)) != n {
		return fmt.Errorf("%v (%T) is not a whole number that fits", v, v)
	}
	*c.p = T(n)
	return nil
}

func float(name string, p *float64) column { return column{name: name, cell: floatCell{p}} }

type floatCell struct{ p *float64 }

// SQLite would keep what is not a number as NULL, PostgreSQL as it is.
func (c floatCell) get() (driver.Value, error) {
	if math.IsNaN(*c.p) || math.IsInf(*c.p, 0) {
		return nil, fmt.Errorf("%v is not a number", *c.p)
	}
	return *c.p, nil
}

func (c floatCell) set(v any) error {
	switch v := v.(type) {
	case float64:
		*c.p = v
		return nil
	case int64: // a whole float may come back as a number
		*c.p = float64(v)
		return nil
	}
	return fmt.Errorf("%v (%T) is not a number", v, v)
}

func flag(name string, p *bool) column { return column{name: name, cell: flagCell{p}} }

type flagCell struct{ p *bool }

func (c flagCell) get() (driver.Value, error) { return *c.p, nil }

func (c flagCell) set(v any) error {
	switch v := v.(type) {
	case bool:
		*c.p = v
		return nil
	case int64:
		*c.p = v != 0
		return nil
	}
	return fmt.Errorf("%v (%T) is not a truth value", v, v)
}

// timeLayout is RFC 3339 with a fixed width, so that texts sort as times do.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

func moment(name string, p *time.Time) column { return column{name: name, cell: timeCell{p}} }

type timeCell struct{ p *time.Time }

func (c timeCell) get() (driver.Value, error) { return c.p.UTC().Format(timeLayout), nil }

func (c timeCell) set(v any) error {
	s, err := asText(v)
	if err != nil {
		return err
	}
	*c.p, err = time.Parse(timeLayout, s)
	return err
}

// maybe makes a column of a field that may be nil, which is NULL.
func maybe[T any](p **T, of func(*T) column) column {
	var probe T
	c := of(&probe)
	c.cell = maybeCell[T]{p, of}
	return c
}

type maybeCell[T any] struct {
	p  **T
	of func(*T) column
}

func (c maybeCell[T]) get() (driver.Value, error) {
	if *c.p == nil {
		return nil, nil
	}
	return c.of(*c.p).cell.get()
}

func (c maybeCell[T]) set(v any) error {
	*c.p = nil
	if v == nil {
		return nil
	}
	*c.p = new(T)
	return c.of(*c.p).cell.set(v)
}

func maybeFloat(name string, p **float64) column {
	return maybe(p, func(f *float64) column { return float(name, f) })
}

func maybeInt(name string, p **int) column {
	return maybe(p, func(n *int) column { return number(name, n) })
}

func maybeTime(name string, p **time.Time) column {
	return maybe(p, func(t *time.Time) column { return moment(name, t) })
}

// document keeps a value as JSON. p is a pointer. Numbers inside values of no
// fixed type come back as json.Number, so that no digit is lost.
func document(name string, p any) column { return column{name: name, cell: docCell{p}} }

type docCell struct{ p any }

func (c docCell) get() (driver.Value, error) {
	b, err := json.Marshal(c.p)
	return string(b), err
}

func (c docCell) set(v any) error {
	s, err := asText(v)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader([]byte(s)))
	d.UseNumber()
	return d.Decode(c.p)
}

// raw keeps JSON bytes exactly as they are; nil is "null".
func raw(name string, p *json.RawMessage) column { return column{name: name, cell: rawCell{p}} }

type rawCell struct{ p *json.RawMessage }

func (c rawCell) get() (driver.Value, error) {
	if *c.p == nil {
		return "null", nil
	}
	if !json.Valid(*c.p) {
		return nil, fmt.Errorf("%.80q is not JSON", string(*c.p))
	}
	return string(*c.p), nil
}

func (c rawCell) set(v any) error {
	s, err := asText(v)
	*c.p = json.RawMessage(s)
	return err
}

// asText takes what a driver returns for a text column; NULL is "".
func asText(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	}
	return "", fmt.Errorf("%v (%T) is not a text", v, v)
}

// names returns the columns' names for a SELECT or INSERT.
func names(cols []column) string {
	var b []byte
	for i, c := range cols {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, c.name...)
	}
	return string(b)
}

// values returns the columns' values for the database, in order.
func values(cols []column) ([]any, error) {
	out := make([]any, len(cols))
	for i, c := range cols {
		v, err := c.cell.get()
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.name, err)
		}
		out[i] = v
	}
	return out, nil
}

// param returns the name of the i-th parameter, from 1.
func param(i int) string { return "$" + strconv.Itoa(i) }
