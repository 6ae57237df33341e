//go:build race

package decode_test

// slowdown is what the race detector costs.
const slowdown = 20

// runs is how often a measurement is taken; the best counts.
const runs = 1
