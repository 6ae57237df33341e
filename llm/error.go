package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"charm.land/fantasy"

	"github.com/cleveragents/agents/fault"
)

// maxMessage bounds what is shown of a provider's own words.
const maxMessage = 1000

// maxWait is the longest wait, in seconds, that a provider is taken at its word for.
const maxWait = 24 * 60 * 60

// providerFault turns an error of fantasy into a fault. It does not wrap it:
// fantasy's errors carry the whole request with its headers.
func providerFault(provider string, err error, status int, header http.Header) error {
	text := shorten(err.Error())
	var pe *fantasy.ProviderError
	if !errors.As(err, &pe) {
		return fault.New(fault.Unavailable, "%s: %s", provider, text)
	}
	text = shorten(pe.Message)
	if text == "" {
		text = shorten(pe.Title)
	}
	if pe.StatusCode == 0 {
		return fault.New(inBand(pe), "%s: %s", provider, text)
	}
	if text == "" {
		text = "no reason given"
	}
	f := fault.New(ofStatus(status, pe), "%s: HTTP %d: %s", provider, status, text).With("status", status)
	if s, ok := retryAfter(header); ok && f.Kind == fault.Unavailable {
		f = f.With("retry_after", s)
	}
	return f
}

// ofStatus is the kind of an answer that is not 200.
func ofStatus(status int, pe *fantasy.ProviderError) fault.Kind {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fault.Denied
	case status == http.StatusPaymentRequired, status == http.StatusTooManyRequests && code(pe.ResponseBody) == "insufficient_quota":
		return fault.Exhausted
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly,
		status == http.StatusTooManyRequests, status >= 500:
		return fault.Unavailable
	}
	return fault.Invalid
}

// inBand is the kind of an error that came inside a stream, or of one below
// HTTP. A broken stream may be whole the next time; a refusal will not.
func inBand(pe *fantasy.ProviderError) fault.Kind {
	if !pe.TransientError && strings.Contains(string(pe.ResponseBody), `"invalid_request_error"`) {
		return fault.Invalid
	}
	return fault.Unavailable
}

// code returns error.code of a dumped HTTP response, "" when there is none.
func code(dump []byte) string {
	_, body, _ := strings.Cut(string(dump), "\r\n\r\n")
	var e struct {
		Error struct {
			Code any `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(body), &e) != nil {
		return ""
	}
	s, _ := e.Error.Code.(string)
	return s
}

// retryAfter returns how many seconds the provider asks to wait. A date is
// read against the provider's own clock.
func retryAfter(h http.Header) (seconds float64, ok bool) {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 {
		return min(ms/1000, maxWait), true
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 {
		return min(s, maxWait), true
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0, false
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0, false
	}
	return min(max(at.Sub(now).Seconds(), 0), maxWait), true
}

// shorten makes one bounded line of a provider's words.
func shorten(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
	if len(s) <= maxMessage {
		return s
	}
	n := maxMessage
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + " …"
}

func size(n int64) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
