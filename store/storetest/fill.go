package storetest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/cleveragents/agents/policy"
)

// filler gives every field of a record a value of its own that is not zero, so
// that a field which a store forgets, or mixes up with another, is found.
type filler struct{ n int64 }

var (
	timeType    = reflect.TypeFor[time.Time]()
	rawType     = reflect.TypeFor[json.RawMessage]()
	networkType = reflect.TypeFor[policy.Network]()
)

// filled returns a full T.
func filled[T any](t testing.TB, f *filler) T {
	t.Helper()
	var v T
	f.fill(t, reflect.ValueOf(&v).Elem())
	return v
}

func (f *filler) fill(t testing.TB, v reflect.Value) {
	t.Helper()
	f.n++
	switch v.Type() {
	case timeType:
		// Nanoseconds, and a year that changes.
		v.Set(reflect.ValueOf(time.Date(2000+int(f.n%50), 2, 3, 4, 5, 6, int(f.n), time.UTC)))
		return
	case networkType:
		v.Set(reflect.ValueOf(policy.Network{Only: []policy.Host{{Name: fmt.Sprintf("h%d.example", f.n), Port: uint16(1 + f.n%1000)}}}))
		return
	case rawType:
		v.SetBytes(fmt.Appendf(nil, `{"b":%d, "a":"é\u0000"}`, f.n)) // spaces and order are kept
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("s%d é'\"\n", f.n))
	case reflect.Int, reflect.Int64:
		v.SetInt(f.n)
	case reflect.Uint32:
		v.SetUint(uint64(f.n))
	case reflect.Float64:
		v.SetFloat(float64(f.n) + 0.1)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(t, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			f.fill(t, v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			f.fill(t, v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 2 {
			key, val := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(t, key)
			f.fill(t, val)
			v.SetMapIndex(key, val)
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{"list": []any{"x", true, nil, json.Number("12345678901234567890.5")}}))
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(t, v.Field(i))
		}
	default:
		t.Fatalf("storetest: no value for a field of type %s", v.Type())
	}
}
