//go:build !race

package decode_test

// slowdown is what the race detector would cost.
const slowdown = 1

// runs is how often a measurement is taken; the best counts.
const runs = 5
