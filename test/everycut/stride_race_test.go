//go:build race

package everycut

// stride is 1 without the race detector, which makes everything several times slower: with it every third octet is
// enough where several messages are cut.
const stride = 3
