package llm_test

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm"
)

// frame is one message of Amazon's event stream.
func frame(headers map[string]string, payload string) string {
	var h []byte
	for _, name := range []string{":message-type", ":event-type", ":exception-type"} {
		if v, ok := headers[name]; ok {
			h = append(h, byte(len(name)))
			h = append(h, name...)
			h = append(h, 7)
			h = binary.BigEndian.AppendUint16(h, uint16(len(v)))
			h = append(h, v...)
		}
	}
	var b []byte
	b = binary.BigEndian.AppendUint32(b, uint32(12+len(h)+len(payload)+4))
	b = binary.BigEndian.AppendUint32(b, uint32(len(h)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, h...), payload...)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

// framed puts the events of a server-sent stream into frames.
func framed(stream string) string {
	var out strings.Builder
	for line := range strings.Lines(stream) {
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok {
			out.WriteString(frame(map[string]string{":message-type": "event", ":event-type": "chunk"},
				fmt.Sprintf(`{"bytes":%q,"p":"abc"}`, base64.StdEncoding.EncodeToString([]byte(data)))))
		}
	}
	return out.String()
}

// Every bit of a framed answer counts.
func TestT55FrameWithAWrongBit(t *testing.T) {
	whole := answers()[llm.Bedrock]
	for i := range whole {
		for _, bit := range []byte{0x01, 0x80} {
			b := []byte(whole)
			b[i] ^= bit
			resp, err := modelOf(llm.Bedrock, strings.NewReader(string(b))).Generate(t.Context(), ask("p"), nil)
			if !fault.Is(err, fault.Unavailable) || len(resp.Message.ToolCalls) > 0 {
				t.Fatalf("byte %d with %#x: %v", i, bit, err)
			}
		}
	}
}

func TestFrameExceptions(t *testing.T) {
	for what, kind := range map[string]fault.Kind{
		"throttlingException": fault.Unavailable, "modelStreamErrorException": fault.Unavailable,
		"validationException": fault.Invalid, "accessDeniedException": fault.Denied,
	} {
		stream := frame(map[string]string{":message-type": "exception", ":exception-type": what}, `{"message":"because"}`)
		_, err := modelOf(llm.Bedrock, strings.NewReader(stream)).Generate(t.Context(), ask("p"), nil)
		if !fault.Is(err, kind) || !strings.Contains(err.Error(), "because") {
			t.Errorf("%s gives %v", what, err)
		}
	}
}
