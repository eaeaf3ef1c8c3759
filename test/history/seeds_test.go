//go:build !race

package history_test

// plainSeeds are the random runs of one test.
const plainSeeds = 20
