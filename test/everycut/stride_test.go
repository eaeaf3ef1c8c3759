//go:build !race

package everycut

// stride: every octet.
const stride = 1
