//go:build race

package history_test

// plainSeeds are fewer under the race detector: it looks at the test's own code only, for the program is another process.
const plainSeeds = 3
