//go:build race

package decode_test

// slowdown is what the race detector costs.
const slowdown = 20
