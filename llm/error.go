package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cleveragents/agents/fault"
)

// maxMessage bounds what is shown of a provider's own words.
const maxMessage = 1000

// maxWait is the longest wait, in seconds, that a provider is taken at its word for.
const maxWait = 24 * 60 * 60

// refusal is what a provider says with an error, in whichever of their shapes.
type refusal struct {
	text string
	kind string // error.type, or status of Google's
	// status is an HTTP status that is said in the body.
	status int
	code   string
	wait   string // a duration that the body asks to wait
}

// isError reports whether an error member says anything.
func isError(raw json.RawMessage) bool {
	s := string(bytes.TrimSpace(raw))
	return s != "" && s != "null" && s != "{}" && s != `""`
}

// refusalOf reads a body: {"error":{…}}, {"error":"…"}, the same in a list,
// {"message":"…"}, or a text.
func refusalOf(body []byte) refusal {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var e struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(body, &e) != nil {
		return refusal{text: shorten(string(body))}
	}
	if isError(e.Error) {
		return refusalIn(e.Error)
	}
	return refusal{text: shorten(e.Message)}
}

// refusalIn reads the error member itself.
func refusalIn(raw json.RawMessage) refusal {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return refusal{text: shorten(text)}
	}
	var e struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Status  string `json:"status"`
		Code    any    `json:"code"`
		Details []struct {
			Reason string `json:"reason"`
			Delay  string `json:"retryDelay"`
		} `json:"details"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return refusal{text: shorten(string(raw))}
	}
	r := refusal{text: shorten(e.Message), kind: e.Type}
	if r.kind == "" {
		r.kind = e.Status
	}
	switch c := e.Code.(type) {
	case string:
		r.code = c
	case float64: // some say an HTTP status there
		r.status = int(c)
	}
	for _, d := range e.Details {
		if d.Reason != "" {
			r.code = d.Reason
		}
		if d.Delay != "" {
			r.wait = d.Delay
		}
	}
	return r
}

// refused turns an answer that is not a success into a fault.
func refused(provider, model string, status int, header http.Header, body []byte) *fault.Error {
	r := refusalOf(body)
	if r.text == "" {
		r.text = "no reason given"
	}
	kind := ofStatus(status, r)
	f := fault.New(kind, "%s: HTTP %d: %s", provider, status, r.text).With("status", status)
	switch kind {
	case fault.Denied:
		f = f.WithHint("the key of provider %s was refused: agents provider show %s says where it is taken from", provider, provider)
	case fault.NotFound:
		f = f.WithHint("agents provider models %s lists the models; %s is not among them, or not for this key", provider, model)
	case fault.Unavailable:
		if s, ok := r.after(header); ok {
			f = f.With("retry_after", s)
		}
	}
	return f
}

// ofStatus is the kind of an answer that is not 200.
func ofStatus(status int, r refusal) fault.Kind {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, r.code == "API_KEY_INVALID":
		return fault.Denied
	case status == http.StatusPaymentRequired, status == http.StatusTooManyRequests && r.code == "insufficient_quota",
		strings.Contains(r.text, "credit balance is too low"): // Anthropic's, an invalid request by its type
		return fault.Exhausted
	case status == http.StatusNotFound && (r.kind != "" || r.code != ""), r.code == "model_not_found",
		strings.Contains(r.text, "model identifier is invalid"): // Amazon's
		return fault.NotFound // the provider's own word, and not that of a wrong address
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly,
		status == http.StatusTooManyRequests, status >= 500:
		return fault.Unavailable
	}
	return fault.Invalid
}

// inBand turns an error that came inside a stream into a fault. A broken stream
// may be whole the next time; what the provider refuses will not be.
func inBand(raw json.RawMessage) *fault.Error {
	r := refusalIn(raw)
	if r.text == "" {
		r.text = "the provider says that it failed midway"
	}
	switch {
	case r.kind == "billing_error", r.code == "insufficient_quota":
		return fault.New(fault.Exhausted, "%s", r.text)
	case r.kind == "invalid_request_error", r.kind == "request_too_large", r.kind == "INVALID_ARGUMENT", r.code == "context_length_exceeded":
		return fault.New(fault.Invalid, "%s", r.text)
	case r.kind == "authentication_error", r.kind == "permission_error", r.kind == "PERMISSION_DENIED", r.kind == "UNAUTHENTICATED":
		return fault.New(fault.Denied, "%s", r.text)
	case r.kind == "not_found_error", r.kind == "NOT_FOUND", r.code == "model_not_found":
		return fault.New(fault.NotFound, "%s", r.text)
	case r.status >= 400:
		return fault.New(ofStatus(r.status, r), "%s", r.text)
	}
	return fault.New(fault.Unavailable, "%s", r.text)
}

// after is how many seconds the provider asks to wait: in a header, in the body
// as Google does, or by saying when there is something left.
func (r refusal) after(h http.Header) (seconds float64, ok bool) {
	if s, ok := retryAfter(h); ok {
		return s, true
	}
	if d, err := time.ParseDuration(r.wait); err == nil && d >= 0 {
		return min(d.Seconds(), maxWait), true
	}
	s := usedUp(h)
	return s, s > 0
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
