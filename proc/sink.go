package proc

import "fmt"

// sink keeps the beginning and the end of a stream within a fixed number of
// bytes and counts the rest. It is used by one goroutine at a time.
type sink struct {
	max   int64 // bytes of the stream that are kept
	head  []byte
	tail  []byte // a ring once it is full
	next  int    // where the ring continues
	total int64
}

func (s *sink) tailMax() int { return int(min(s.max/4, 64<<10)) }

func (s *sink) write(p []byte) {
	s.total += int64(len(p))
	if room := int(s.max) - s.tailMax() - len(s.head); room > 0 {
		n := min(room, len(p))
		s.head = append(s.head, p[:n]...)
		p = p[n:]
	}
	size := s.tailMax()
	if size == 0 || len(p) == 0 {
		return
	}
	if len(p) > size {
		p = p[len(p)-size:]
	}
	if s.tail == nil {
		s.tail = make([]byte, 0, size)
	}
	if room := size - len(s.tail); room > 0 {
		n := min(room, len(p))
		s.tail = append(s.tail, p[:n]...)
		p = p[n:]
	}
	for len(p) > 0 {
		n := copy(s.tail[s.next:], p)
		s.next = (s.next + n) % size
		p = p[n:]
	}
}

// bytes returns what is kept in the order it came. Where a middle part was
// dropped, one line says how much.
func (s *sink) bytes() (out []byte, truncated bool) {
	dropped := s.total - int64(len(s.head)) - int64(len(s.tail))
	out = s.head
	if dropped > 0 {
		out = fmt.Appendf(out, "\n[%d bytes dropped here]\n", dropped)
	}
	out = append(out, s.tail[s.next:]...)
	return append(out, s.tail[:s.next]...), dropped > 0
}
