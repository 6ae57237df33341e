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
	answer   *answer // what the response says so far
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
	w.answer = newAnswer()
	resp.Body = &recording{wire: w, from: resp.Body, stream: resp.StatusCode < 300}
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
		c := *f
		c.Msg = provider + ": " + f.Msg
		return &c
	}
	return providerFault(provider, err, w.status, w.header)
}

// recording is an answer's body that is kept while it is read. Of a stream it
// lets only lines pass whose events were checked.
type recording struct {
	wire     *wire
	from     io.ReadCloser
	stream   bool
	events   events
	checked  int // bytes of the record that may pass
	released int // and that have passed
	err      error
	buf      [8 << 10]byte
}

// Read gives the next bytes that may pass.
func (b *recording) Read(p []byte) (int, error) {
	for b.released == b.checked {
		if b.err != nil {
			return 0, b.err
		}
		b.fill()
	}
	n := copy(p, b.wire.response.Bytes()[b.released:b.checked])
	b.released += n
	return n, nil
}

// fill records what comes next and checks it. Past the limit it fails.
func (b *recording) fill() {
	n, err := b.from.Read(b.buf[:])
	if err != nil && err != io.EOF {
		b.wire.failed(err)
	}
	b.err = err
	left := b.wire.max - int64(b.wire.response.Len())
	if int64(n) > left {
		b.wire.response.Write(b.buf[:left])
		b.err = b.wire.failed(fault.New(fault.Exhausted, "the model answered more than %s", size(b.wire.max)).
			WithHint("set the actor's max_tokens, or ask for less at once"))
		return
	}
	b.wire.response.Write(b.buf[:n])
	if !b.stream {
		b.checked = b.wire.response.Len()
		return
	}
	for {
		data, ok := b.events.next(b.wire.response.Bytes())
		if !ok {
			break
		}
		if err := b.wire.answer.event(data); err != nil {
			b.err = b.wire.failed(err)
			return
		}
	}
	b.checked = b.events.at
}

// Close closes the body.
func (b *recording) Close() error { return b.from.Close() }
