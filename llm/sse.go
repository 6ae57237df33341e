package llm

import "bytes"

// events reads the server-sent events of a buffer that grows: an event ends at
// an empty line, and only then counts. What an event is called is in its data,
// too, so the data is all that is read.
type events struct {
	at      int // start of the first line that is not read
	scanned int // no line ends between at and here
	data    []byte
	has     bool
}

// next returns the data of the next event that is complete in buf, which must
// start with what it was called with before.
func (e *events) next(buf []byte) (data []byte, ok bool, err error) {
	for {
		n := bytes.IndexByte(buf[e.scanned:], '\n')
		if n < 0 {
			e.scanned = len(buf)
			return nil, false, nil
		}
		line := bytes.TrimSuffix(buf[e.at:e.scanned+n], []byte("\r"))
		e.scanned += n + 1
		e.at = e.scanned
		if len(line) == 0 {
			if e.has {
				data = e.data
				e.data, e.has = nil, false
				return data, true, nil
			}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(name) != "data" {
			continue
		}
		if e.has {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, bytes.TrimPrefix(value, []byte(" "))...)
		e.has = true
	}
}

// rest reports whether the buffer ends within an event.
func (e *events) rest(buf []byte) bool { return e.has || len(bytes.TrimSpace(buf[e.at:])) > 0 }
