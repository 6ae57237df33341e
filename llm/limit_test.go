package llm_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm"
)

// limited is a provider with limits; it answers as next says.
func limited(l llm.Limits, next func(*http.Request) (*http.Response, error)) *llm.Model {
	return llm.New(llm.Config{Now: time.Now, Providers: map[string]llm.Provider{"p": {BaseURL: "http://x.invalid", Limits: l, Transport: roundTrip(next)}}})
}

func ok(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(answers()[llm.Chat])), Request: r}, nil
}

// retryAfter is when an error says to come back, in seconds; 0 when it does not.
func retryAfter(err error) float64 {
	if err == nil {
		return 0
	}
	s, _ := fault.As(err).Details["retry_after"].(float64)
	return s
}

// Calls of all plans of a process share the provider's limit: a burst goes
// through at once, then each takes its turn, and one that would have to wait
// long is told how long instead.
func TestRequestsPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := limited(llm.Limits{RequestsPerMinute: 60}, ok)
		start := time.Now()
		var all sync.WaitGroup
		var mu sync.Mutex
		passed, told := 0, 0
		for range 65 {
			all.Go(func() {
				_, err := m.Generate(t.Context(), ask("p"), nil)
				mu.Lock()
				defer mu.Unlock()
				switch after := retryAfter(err); {
				case err == nil:
					passed++
				case fault.Is(err, fault.Unavailable) && after >= 2 && after <= 4:
					told++
				default:
					t.Errorf("got %v", err)
				}
			})
		}
		all.Wait()
		// 60 at once, one after a second, one after two; who would wait longer
		// gives its turn back.
		if passed != 62 || told != 3 || time.Since(start) != 2*time.Second {
			t.Errorf("%d passed, %d were told to come back, in %s", passed, told, time.Since(start))
		}
		time.Sleep(time.Minute)
		start = time.Now()
		if _, err := m.Generate(t.Context(), ask("p"), nil); err != nil || time.Since(start) != 0 {
			t.Errorf("a minute later: %v after %s", err, time.Since(start))
		}
	})
}

func TestTokensPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := limited(llm.Limits{TokensPerMinute: 100}, ok) // one request is some 80 of them
		if _, err := m.Generate(t.Context(), ask("p"), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Generate(t.Context(), ask("p"), nil); !fault.Is(err, fault.Unavailable) || retryAfter(err) < 1 {
			t.Errorf("the second: %v", err)
		}
		time.Sleep(time.Minute)
		if _, err := m.Generate(t.Context(), ask("p"), nil); err != nil {
			t.Errorf("a minute later: %v", err)
		}
	})
}

// After a refusal nobody of this process asks before the time that the provider
// named, also when it has no limits of ours.
func TestARefusalHoldsForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		m := limited(llm.Limits{}, func(r *http.Request) (*http.Response, error) {
			if asked++; asked == 1 {
				return &http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {"30"}}, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
			}
			return ok(r)
		})
		if _, err := m.Generate(t.Context(), ask("p"), nil); retryAfter(err) != 30 {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if _, err := m.Generate(t.Context(), ask("p"), nil); retryAfter(err) != 20 || asked != 1 {
			t.Errorf("10 s later: %v, asked %d times", err, asked)
		}
		time.Sleep(19 * time.Second)
		start := time.Now()
		if _, err := m.Generate(t.Context(), ask("p"), nil); err != nil || time.Since(start) != time.Second || asked != 2 {
			t.Errorf("29 s later: %v after %s, asked %d times", err, time.Since(start), asked)
		}
	})
}

func TestWaitingForATurnEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := limited(llm.Limits{RequestsPerMinute: 60}, ok)
		for range 60 {
			if _, err := m.Generate(t.Context(), ask("p"), nil); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		start := time.Now()
		if _, err := m.Generate(ctx, ask("p"), nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 300*time.Millisecond {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

// What a provider says of its limits lowers ours, and that nothing is left
// holds for all until it is filled up again.
func TestLimitsThatTheProviderSays(t *testing.T) {
	for name, c := range map[string]struct {
		ours   llm.Limits
		status int
		h      http.Header
		after  float64 // of the second call
	}{
		"nothing said":           {llm.Limits{}, 200, http.Header{}, 0},
		"a limit of requests":    {llm.Limits{}, 200, http.Header{"X-Ratelimit-Limit-Requests": {"1"}}, 0},
		"a higher one":           {llm.Limits{RequestsPerMinute: 1}, 200, http.Header{"Anthropic-Ratelimit-Requests-Limit": {"50"}}, 60},
		"absurd ones":            {llm.Limits{}, 200, http.Header{"X-Ratelimit-Limit-Requests": {"-1"}, "X-Ratelimit-Limit-Tokens": {"many"}}, 0},
		"something left":         {llm.Limits{}, 200, http.Header{"X-Ratelimit-Remaining-Requests": {"1"}, "X-Ratelimit-Reset-Requests": {"30s"}}, 0},
		"nothing left":           {llm.Limits{}, 200, http.Header{"X-Ratelimit-Remaining-Requests": {"0"}, "X-Ratelimit-Reset-Requests": {"30s"}}, 30},
		"nothing left, a date":   {llm.Limits{}, 200, http.Header{"Date": {"Thu, 01 Jan 2026 00:00:00 GMT"}, "Anthropic-Ratelimit-Input-Tokens-Remaining": {"0"}, "Anthropic-Ratelimit-Input-Tokens-Reset": {"2026-01-01T00:00:40Z"}}, 40},
		"refused without a time": {llm.Limits{}, 429, http.Header{"X-Ratelimit-Remaining-Tokens": {"0"}, "X-Ratelimit-Reset-Tokens": {"1m30s"}}, 90},
		"absurdly long":          {llm.Limits{}, 200, http.Header{"X-Ratelimit-Remaining-Tokens": {"0"}, "X-Ratelimit-Reset-Tokens": {"9999h"}}, 86400},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				m := limited(c.ours, func(r *http.Request) (*http.Response, error) {
					resp, err := ok(r)
					if asked++; asked == 1 {
						resp.StatusCode, resp.Header = c.status, c.h
					}
					return resp, err
				})
				if _, err := m.Generate(t.Context(), ask("p"), nil); (err == nil) != (c.status == 200) {
					t.Fatal(err)
				}
				if _, err := m.Generate(t.Context(), ask("p"), nil); retryAfter(err) != c.after {
					t.Errorf("the second: %v, %v s", err, retryAfter(err))
				}
				if name == "a limit of requests" { // the bucket was full when it was heard of
					if _, err := m.Generate(t.Context(), ask("p"), nil); retryAfter(err) != 60 {
						t.Errorf("the third: %v", err)
					}
				}
				time.Sleep(time.Duration(c.after+60) * time.Second)
				if _, err := m.Generate(t.Context(), ask("p"), nil); err != nil {
					t.Errorf("later: %v", err)
				}
			})
		})
	}
}
