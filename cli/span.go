package cli

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// span is a flag for a length of time: what Go reads, such as 90s or 1h30m, and
// whole days, such as 7d.
type span time.Duration

// String implements pflag.Value.
func (s *span) String() string {
	if *s == 0 {
		return ""
	}
	return time.Duration(*s).String()
}

// Type implements pflag.Value.
func (s *span) Type() string { return "duration" }

// Set implements pflag.Value.
func (s *span) Set(text string) error {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok && err != nil {
		n, nerr := strconv.Atoi(days)
		if nerr == nil && n <= math.MaxInt64/int(24*time.Hour) {
			d, err = time.Duration(n)*24*time.Hour, nil
		}
	}
	if err != nil || d <= 0 {
		return errSpan{}
	}
	*s = span(d)
	return nil
}

// errSpan says how a span is written.
type errSpan struct{}

// Error implements error.
func (errSpan) Error() string { return "write a time such as 90s, 15m, 36h or 7d" }
