package llm

import (
	"context"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/cleveragents/agents/fault"
)

// Limits is how much a provider may be asked; zero is no limit of ours.
type Limits struct {
	RequestsPerMinute int
	TokensPerMinute   int // of requests, counted as a quarter of their bytes
}

// shortWait is the longest wait for a turn that happens here; whoever has to
// wait longer is told, so that a plan can say that it waits.
const shortWait = 2 * time.Second

// limiter is shared by all calls of one provider. Two buckets fill with time
// and are emptied by calls; and nobody calls before the time that the provider
// named when it refused the last one.
type limiter struct {
	now func() time.Time

	mu       sync.Mutex
	limits   Limits
	learned  Limits // what the provider said in headers
	requests bucket
	tokens   bucket
	notUntil time.Time
}

// bucket holds what may be used now; below zero is what was promised ahead.
type bucket struct {
	level float64
	at    time.Time
}

// set changes the limits, as a provider's configuration may.
func (l *limiter) set(limits Limits) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limits = limits
}

func newLimiter(l Limits, now func() time.Time) *limiter { return &limiter{limits: l, now: now} }

// take fills the bucket, takes n out of it, and returns how long to wait until
// that is covered. More than a full bucket is taken as a full one.
func (b *bucket) take(n, perMinute float64, now time.Time) time.Duration {
	if perMinute <= 0 {
		return 0
	}
	b.fill(perMinute, now)
	b.level -= min(n, perMinute)
	if b.level >= 0 {
		return 0
	}
	return time.Duration(-b.level / perMinute * float64(time.Minute))
}

func (b *bucket) fill(perMinute float64, now time.Time) {
	if b.at.IsZero() {
		b.level = perMinute
	} else {
		b.level = min(perMinute, b.level+perMinute*now.Sub(b.at).Minutes())
	}
	b.at = now
}

// wait waits for a turn for a request of so many bytes. Turns come in the order
// of asking. A wait of more than shortWait is refused, and its turn given back,
// with the time as detail retry_after.
func (l *limiter) wait(ctx context.Context, provider string, size int) error {
	d := l.reserve(float64(size+3) / 4)
	if d > shortWait {
		return fault.New(fault.Unavailable, "%s: its limit is reached", provider).
			With("retry_after", math.Ceil(d.Seconds())).
			WithHint("the plan goes on by itself; requests_per_minute and tokens_per_minute of the provider set the limit")
	}
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func (l *limiter) reserve(tokens float64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	before := [2]bucket{l.requests, l.tokens}
	d := max(
		l.requests.take(1, float64(lower(l.limits.RequestsPerMinute, l.learned.RequestsPerMinute)), now),
		l.tokens.take(tokens, float64(lower(l.limits.TokensPerMinute, l.learned.TokensPerMinute)), now),
		l.notUntil.Sub(now),
	)
	if d > shortWait {
		l.requests, l.tokens = before[0], before[1]
	}
	return d
}

// told hears what the provider says about its limits: with a refusal, when to
// come back; with any answer, what they are and that nothing is left until then.
func (l *limiter) told(h http.Header, status int) {
	var until float64
	switch {
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable || status == 529:
		s, ok := retryAfter(h)
		if !ok {
			s = usedUp(h)
		}
		until = s
	case status < 300:
		until = usedUp(h)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.learn(h)
	if t := l.now().Add(time.Duration(until * float64(time.Second))); t.After(l.notUntil) {
		l.notUntil = t
	}
}
