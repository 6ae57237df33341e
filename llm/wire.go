package llm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/cleveragents/agents/fault"
)

// wire is the transport of one call. It keeps the bytes of the request and of
// the answer, and stops an answer that is too long.
type wire struct {
	next http.RoundTripper
	key  string
	max  int64

	attempts int
	request  []byte
	status   int
	header   http.Header
	response bytes.Buffer
	body     io.Closer
	err      error // what the transport itself failed with
}

// RoundTrip sends the request with only the headers that have to be sent: the
// SDK adds more, some of them out of the environment of the process.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.attempts++
	w.close()
	w.response.Reset()
	var err error
	if w.request, err = readBody(r); err != nil {
		return nil, w.failed(err)
	}
	out := r.Clone(r.Context())
	out.Header = http.Header{}
	for _, k := range []string{"Accept", "Content-Type", "User-Agent"} {
		if v := r.Header.Get(k); v != "" {
			out.Header.Set(k, v)
		}
	}
	if w.key != "" {
		out.Header.Set("Authorization", "Bearer "+w.key)
	}
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(w.request)), nil }
	out.Body, _ = out.GetBody()
	out.ContentLength = int64(len(w.request))
	resp, err := w.next.RoundTrip(out)
	if err != nil {
		return nil, w.failed(err)
	}
	w.status, w.header, w.body = resp.StatusCode, resp.Header, resp.Body
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return nil, w.failed(fault.New(fault.Invalid, "%s sends us on to %q", r.URL.Host, resp.Header.Get("Location")).
			WithHint("set the provider's base URL to where it really is"))
	}
	resp.Body = &recording{wire: w, from: resp.Body}
	return resp, nil
}

func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer r.Body.Close()
	return io.ReadAll(r.Body)
}

func (w *wire) failed(err error) error {
	if w.err == nil {
		w.err = err
	}
	return err
}

// close lets go of the connection; fantasy does not.
func (w *wire) close() {
	if w.body != nil {
		w.body.Close()
		w.body = nil
	}
}

// fault says what the failure of this call means. What the transport saw comes
// first: everything above it only has it second hand.
func (w *wire) fault(ctx context.Context, provider string, err error) error {
	if e := ctx.Err(); e != nil {
		return e
	}
	var f *fault.Error
	if w.err != nil && errors.As(w.err, &f) {
		return f
	}
	return providerFault(provider, err, w.status, w.header)
}

// recording is an answer's body that is kept while it is read.
type recording struct {
	wire *wire
	from io.ReadCloser
}

// Read keeps what it returns. Past the limit it fails.
func (b *recording) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	left := b.wire.max - int64(b.wire.response.Len())
	if int64(n) > left {
		b.wire.response.Write(p[:left])
		return 0, b.wire.failed(fault.New(fault.Exhausted, "the model answered more than %s", size(b.wire.max)).
			WithHint("set the actor's max_tokens, or ask for less at once"))
	}
	b.wire.response.Write(p[:n])
	if err != nil && err != io.EOF {
		b.wire.failed(err)
	}
	return n, err
}

// Close closes the body.
func (b *recording) Close() error { return b.from.Close() }
