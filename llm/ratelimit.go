package llm

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// lower is the lower of two limits; zero is none.
func lower(a, b int) int {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// learn takes over the limits that the headers say. They only ever lower ours:
// some providers count another time than a minute. The lock is held.
func (l *limiter) learn(h http.Header) {
	said := func(names ...string) (n int) {
		for _, name := range names {
			if v, err := strconv.Atoi(h.Get(name)); err == nil && v > 0 {
				n = lower(n, v)
			}
		}
		return n
	}
	if n := said("X-Ratelimit-Limit-Requests", "Anthropic-Ratelimit-Requests-Limit"); n > 0 {
		l.learned.RequestsPerMinute = n
	}
	if n := said("X-Ratelimit-Limit-Tokens", "Anthropic-Ratelimit-Tokens-Limit"); n > 0 {
		l.learned.TokensPerMinute = n
	}
}

// usedUp returns for how many seconds nothing is left of what the headers
// count, 0 when something is.
func usedUp(h http.Header) (seconds float64) {
	for _, c := range [][2]string{
		{"X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"},
		{"X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"},
		{"Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset"},
		{"Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset"},
		{"Anthropic-Ratelimit-Input-Tokens-Remaining", "Anthropic-Ratelimit-Input-Tokens-Reset"},
		{"Anthropic-Ratelimit-Output-Tokens-Remaining", "Anthropic-Ratelimit-Output-Tokens-Reset"},
	} {
		if strings.TrimSpace(h.Get(c[0])) == "0" {
			seconds = max(seconds, resetIn(h, h.Get(c[1])))
		}
	}
	return min(seconds, maxWait)
}

// resetIn reads a duration, or a time by the provider's own clock.
func resetIn(h http.Header, v string) float64 {
	if d, err := time.ParseDuration(v); err == nil {
		return max(d.Seconds(), 0)
	}
	at, err := time.Parse(time.RFC3339, v)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return max(at.Sub(now).Seconds(), 0)
}
