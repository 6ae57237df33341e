// Package replay is a model that answers what was answered before.
//
// It is an http.RoundTripper: a request is looked up by the SHA-256 of its
// body, which is what the record of a call names it by, and is answered with
// the bytes that came over the wire then. So it speaks whatever format was
// recorded, and every layer above it is the one that real models are called
// with. The same request always gets the same bytes.
//
// It does not guess: a request of which nothing is recorded is fault.NotFound
// with its hash, and nothing leaves the machine.
package replay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm"
)

// Name is the provider name that actors use for recorded models.
const Name = "replay"

// Source finds the answer to the request of that hash: the bytes of a whole,
// successful answer, or an error of kind NotFound when there is none.
type Source func(ctx context.Context, hash string) (answer []byte, err error)

// Provider returns a provider in the format of the one that was recorded.
func Provider(f llm.Format, s Source) llm.Provider {
	return llm.Provider{Format: f, BaseURL: "http://replay.invalid", Transport: transport{s}}
}

type transport struct{ source Source }

// RoundTrip answers one request.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		defer r.Body.Close()
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	answer, err := t.source(r.Context(), hash)
	if fault.Is(err, fault.NotFound) {
		return nil, fault.New(fault.NotFound, "nothing is recorded for the request %s", hash).With("request", hash).
			WithHint("the request differs from every one that was recorded; only a model itself can answer it")
	}
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {r.Header.Get("Accept")}}, Body: io.NopCloser(bytes.NewReader(answer)),
		ContentLength: int64(len(answer)), Request: r,
	}, nil
}
