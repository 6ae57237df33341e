package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
)

// maxRefusal bounds what is read of an answer that is no success.
const maxRefusal = 64 << 10

// errSilent is why a call ends whose provider says nothing for too long.
var errSilent = errors.New("the provider went silent")

// exchange is one request and its answer on the wire.
type exchange struct {
	provider string
	model    string
	dialect  dialect
	next     http.RoundTripper
	max      int64
	first    time.Duration // the longest silence before the answer begins
	between  time.Duration // and within it
	told     func(http.Header, int)

	wire actor.Wire
}

// run sends the body and reads the answer into a. Every error is a fault, but
// that of a context that ended.
func (x *exchange) run(ctx context.Context, url string, header http.Header, body []byte, a reader, progress func(string)) error {
	x.wire.Request, x.wire.Attempts = body, 1
	watched, stop := watch(ctx, x.first)
	defer stop.end()
	req, err := http.NewRequestWithContext(watched, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return fault.New(fault.Invalid, "%s: %w", x.provider, err)
	}
	req.Header = header
	resp, err := x.next.RoundTrip(req)
	if err != nil {
		return x.broken(ctx, watched, err)
	}
	defer resp.Body.Close()
	// A read that hangs ends with the context, whatever the transport does.
	defer context.AfterFunc(watched, func() { resp.Body.Close() })()
	if x.told != nil {
		x.told(resp.Header, resp.StatusCode)
	}
	stop.in(x.between)
	if resp.StatusCode >= 300 {
		return x.refusal(ctx, watched, resp)
	}
	err = x.read(resp.Body, a, stop, progress)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case context.Cause(watched) == errSilent:
		return x.broken(ctx, watched, errSilent)
	}
	return err
}

// refusal reads an answer that is no success. A redirect is one: it would take
// the key to somewhere else.
func (x *exchange) refusal(ctx, watched context.Context, resp *http.Response) error {
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	x.wire.Response = b
	if err != nil && len(b) == 0 {
		return x.broken(ctx, watched, err)
	}
	if resp.StatusCode < 400 {
		return fault.New(fault.Invalid, "%s: %s sends us on to %q", x.provider, resp.Request.URL.Host, resp.Header.Get("Location")).
			WithHint("set the provider's base URL to where it really is")
	}
	return refused(x.provider, x.model, resp.StatusCode, resp.Header, b)
}

// broken is a connection that could not be made, or did not hold.
func (x *exchange) broken(ctx, watched context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if context.Cause(watched) == errSilent {
		err = errSilent
	}
	var f *fault.Error
	if errors.As(err, &f) { // of a transport that is ours
		return err
	}
	return fault.New(fault.Unavailable, "%s: %s", x.provider, shorten(err.Error()))
}

// read takes the answer to its end, event by event, and keeps every byte.
func (x *exchange) read(from io.Reader, a reader, stop *silence, progress func(string)) error {
	var kept bytes.Buffer
	defer func() { x.wire.Response = kept.Bytes() }()
	var events framing = &events{}
	if x.dialect.framed {
		events = &frames{}
	}
	var buf [16 << 10]byte
	for {
		n, err := from.Read(buf[:])
		stop.in(x.between)
		if left := x.max - int64(kept.Len()); int64(n) > left {
			kept.Write(buf[:left])
			return fault.New(fault.Exhausted, "%s: the model answered more than %s", x.provider, size(x.max)).
				WithHint("set the actor's max_tokens, or ask for less at once")
		}
		kept.Write(buf[:n])
		for {
			data, ok, ferr := events.next(kept.Bytes())
			if ferr != nil {
				return x.notWhole(ferr)
			}
			if !ok {
				break
			}
			text, eerr := a.event(data)
			if eerr != nil {
				return x.named(eerr)
			}
			if text != "" && progress != nil {
				progress(text)
			}
		}
		switch {
		case err == io.EOF && events.rest(kept.Bytes()):
			if r := refusalOf(kept.Bytes()); json.Valid(kept.Bytes()) && r.text != "" { // an error that says success
				return fault.New(fault.Unavailable, "%s: %s", x.provider, r.text)
			}
			return x.notWhole(io.ErrUnexpectedEOF)
		case err == io.EOF:
			if werr := a.whole(); werr != nil {
				return x.notWhole(werr)
			}
			return nil
		case err != nil:
			return fault.New(fault.Unavailable, "%s: the answer broke off: %s", x.provider, shorten(err.Error()))
		}
	}
}

func (x *exchange) notWhole(err error) error {
	if f := (*fault.Error)(nil); errors.As(err, &f) {
		return x.named(err)
	}
	return fault.New(fault.Unavailable, "%s: the answer is not whole: %w", x.provider, err)
}

// named puts the provider's name before what a reader says.
func (x *exchange) named(err error) error {
	f := *fault.As(err)
	f.Msg = x.provider + ": " + f.Msg
	return &f
}

// framing cuts a stream into events.
type framing interface {
	// next returns the next event that is complete in buf, which begins with
	// what it was called with before.
	next(buf []byte) (data []byte, ok bool, err error)
	// rest reports whether something is left that is no whole event.
	rest(buf []byte) bool
}

// silence ends a call when nothing comes for too long.
type silence struct {
	cancel context.CancelCauseFunc
	mu     sync.Mutex
	timer  *time.Timer
}

func watch(ctx context.Context, d time.Duration) (context.Context, *silence) {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &silence{cancel: cancel}
	s.timer = time.AfterFunc(d, func() { cancel(errSilent) })
	return ctx, s
}

// in says that something came, and how long the next may take.
func (s *silence) in(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer.Reset(d)
}

func (s *silence) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer.Stop()
	s.cancel(nil)
}
