//go:build !race

package decode_test

// slowdown is what the race detector would cost.
const slowdown = 1
