package llm

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"

	"github.com/cleveragents/agents/fault"
)

// frames reads Amazon's event stream (application/vnd.amazon.eventstream): each
// message is its length, the length of its headers, a CRC-32 of those two, the
// headers, the payload, and a CRC-32 of all of it. The payload of Bedrock's
// chunks holds the model's own event in base64.
type frames struct {
	at int
}

const (
	frameHead = 12
	frameTail = 4
	maxFrame  = 16 << 20
)

func (f *frames) next(buf []byte) (data []byte, ok bool, err error) {
	b := buf[f.at:]
	if len(b) < frameHead {
		return nil, false, nil
	}
	total, headers := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	if crc32.ChecksumIEEE(b[:8]) != binary.BigEndian.Uint32(b[8:]) || total > maxFrame ||
		uint64(headers)+frameHead+frameTail > uint64(total) {
		return nil, false, fault.New(fault.Unavailable, "a frame of the answer is damaged")
	}
	if uint64(len(b)) < uint64(total) {
		return nil, false, nil
	}
	b = b[:total]
	if crc32.ChecksumIEEE(b[:total-frameTail]) != binary.BigEndian.Uint32(b[total-frameTail:]) {
		return nil, false, fault.New(fault.Unavailable, "a frame of the answer is damaged")
	}
	f.at += int(total)
	kinds, good := frameHeaders(b[frameHead : frameHead+headers])
	if !good {
		return nil, false, fault.New(fault.Unavailable, "a frame of the answer is damaged")
	}
	payload := b[frameHead+headers : total-frameTail]
	if kinds[":message-type"] != "event" {
		return nil, false, frameFault(kinds, payload)
	}
	var chunk struct {
		Bytes string `json:"bytes"`
	}
	if err := json.Unmarshal(payload, &chunk); err != nil {
		return nil, false, fault.New(fault.Unavailable, "an event is not valid: %w", err)
	}
	data, err = base64.StdEncoding.DecodeString(chunk.Bytes)
	if err != nil {
		return nil, false, fault.New(fault.Unavailable, "an event is not valid: %w", err)
	}
	return data, true, nil
}

func (f *frames) rest(buf []byte) bool { return f.at < len(buf) }

// frameFault is an exception that came instead of an event.
func frameFault(kinds map[string]string, payload []byte) error {
	what := kinds[":exception-type"]
	if what == "" {
		what = kinds[":error-code"]
	}
	kind := fault.Unavailable
	switch what {
	case "validationException":
		kind = fault.Invalid
	case "accessDeniedException":
		kind = fault.Denied
	}
	return fault.New(kind, "%s: %s", shorten(what), refusalOf(payload).text)
}

// frameHeaders reads the headers whose values are texts; the format has others,
// which are skipped.
func frameHeaders(b []byte) (out map[string]string, ok bool) {
	out = map[string]string{}
	fixed := map[byte]int{0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
	for len(b) > 0 {
		n := int(b[0])
		if len(b) < 1+n+1 {
			return nil, false
		}
		name, kind := string(b[1:1+n]), b[1+n]
		b = b[n+2:]
		size, known := fixed[kind]
		if kind == 6 || kind == 7 { // bytes and texts have their length before them
			if len(b) < 2 {
				return nil, false
			}
			size, known = int(binary.BigEndian.Uint16(b)), true
			b = b[2:]
		}
		if !known || len(b) < size {
			return nil, false
		}
		if kind == 7 {
			out[name] = string(b[:size])
		}
		b = b[size:]
	}
	return out, true
}
