// Package scripted is a model that answers from a script.
//
// It is an http.RoundTripper that speaks OpenAI's Chat Completions, streamed,
// so that every layer above it is the one that real models are called with. A
// script is a function of the request and of nothing else: the same request
// gets the same bytes. The model's name says which script answers: one that
// the program registered, or else a YAML file (script.go) of that name.
//
// Token counts that a script does not give are the scripted model's own: a
// quarter of the bytes of the request, and of the answer. It does not promise
// to count as any real model does.
package scripted

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm"
)

// Name is the provider name that actors use for scripted models.
const Name = "scripted"

// Script says what the model answers. Reply must depend on the request only.
// Its error is an HTTP 500 with the error's text.
type Script interface {
	Reply(Request) (Reply, error)
}

// Config is what Provider needs.
type Config struct {
	Scripts map[string]Script                 // by model name
	Read    func(file string) ([]byte, error) // reads the script of any other model name; nil refuses them
}

// Provider returns the scripted model as llm.New takes it. A model that has no
// script is NotFound, and a script that cannot be read is Invalid.
func Provider(c Config) llm.Provider {
	t := &transport{scripts: maps.Clone(c.Scripts), read: c.Read}
	return llm.Provider{BaseURL: "http://scripted.invalid/v1", Transport: t, Check: func(model string) error {
		_, err := t.load(model)
		return err
	}}
}

// Load returns the script of a model name.
func Load(c Config, name string) (Script, error) {
	t := transport{scripts: c.Scripts, read: c.Read}
	return t.load(name)
}

type transport struct {
	scripts map[string]Script
	read    func(string) ([]byte, error)
}

func (t *transport) load(name string) (Script, error) {
	if s, ok := t.scripts[name]; ok {
		return s, nil
	}
	missing := fault.New(fault.NotFound, "no scripted model %q", name).
		WithHint("name a YAML file, or one of: %s", strings.Join(slices.Sorted(maps.Keys(t.scripts)), ", "))
	if t.read == nil || name == "" {
		return nil, missing
	}
	b, err := t.read(name)
	if err != nil {
		missing.Err = err
		missing.Msg += ": " + err.Error()
		return nil, missing
	}
	return Parse(name, b)
}

// RoundTrip answers one request.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		defer r.Body.Close()
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		return failure(r, Reply{Status: http.StatusNotFound, Text: "the scripted model only has POST …/chat/completions"}), nil
	}
	req, err := parseRequest(body)
	if err != nil {
		return failure(r, Reply{Status: http.StatusBadRequest, Text: err.Error()}), nil
	}
	script, err := t.load(req.Model)
	if err != nil {
		return nil, err
	}
	reply, err := script.Reply(req)
	if err != nil {
		reply = Reply{Status: http.StatusInternalServerError, Text: err.Error()}
	}
	if err := wait(r, reply.Delay); err != nil {
		return nil, err
	}
	if reply.Status >= 300 {
		return failure(r, reply), nil
	}
	return answer(r, req, reply), nil
}

func wait(r *http.Request, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-r.Context().Done():
		return r.Context().Err()
	}
}

func response(r *http.Request, reply Reply, kind string, body io.ReadCloser) *http.Response {
	h := http.Header{"Content-Type": {kind}}
	for k, v := range reply.Headers {
		h.Set(k, v)
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", reply.Status, http.StatusText(reply.Status)), StatusCode: reply.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h, Body: body, ContentLength: -1, Request: r,
	}
}

// failure is an answer in the shape of OpenAI's errors.
func failure(r *http.Request, reply Reply) *http.Response {
	text := reply.Text
	if text == "" {
		text = "the script says " + http.StatusText(reply.Status)
	}
	b := encode(map[string]any{"error": map[string]any{"message": text, "type": "scripted_error", "param": nil, "code": nil}})
	return response(r, reply, "application/json", io.NopCloser(strings.NewReader(string(b))))
}

// encode writes v as JSON as JavaScript would. It is only given values that
// JSON can say.
func encode(v any) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}

// digest names a request in ids.
func digest(body []byte, salt string) string {
	h := sha256.New()
	h.Write(body)
	h.Write([]byte(salt))
	return hex.EncodeToString(h.Sum(nil))[:24]
}
