package bench

import (
	"crypto/rand"
	"testing"

	"github.com/cleveragents/agents/blob"
)

// BenchmarkBlobs is what one step of a plan stores: a few new blobs at once.
// BenchmarkSync is its anchor.
func BenchmarkBlobs(b *testing.B) {
	s, err := blob.Open(b.TempDir(), nil)
	must(b, err)
	defer s.Close()
	for _, c := range []struct {
		name    string
		n, size int
	}{{"one", 1, 2 << 10}, {"five", 5, 2 << 10}, {"five/large", 5, 64 << 10}} {
		b.Run(c.name, func(b *testing.B) {
			bs := make([][]byte, c.n)
			for i := range bs {
				bs[i] = make([]byte, c.size)
			}
			for b.Loop() {
				for _, one := range bs {
					_, err := rand.Read(one)
					must(b, err)
				}
				_, err := s.PutAll(b.Context(), bs)
				must(b, err)
			}
		})
	}
}
