package app

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"golang.org/x/crypto/argon2"
)

// The cost of a password: about 50 ms and 19 MiB for each guess.
const (
	argonTime    = 2
	argonMemory  = 19 << 10 // KiB
	argonThreads = 1
	argonSalt    = 16
	argonLength  = 32
)

// HashPassword gives the form in which a password is stored.
func HashPassword(password string) string {
	salt := make([]byte, argonSalt)
	rand.Read(salt)
	sum := argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonThreads, argonLength)
	enc := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads,
		enc.EncodeToString(salt), enc.EncodeToString(sum))
}

// newPassword makes a password of 100 random bits, in groups that can be read off a screen.
func newPassword() string {
	text := strings.ToLower(rand.Text())
	return strings.Join([]string{text[:5], text[5:10], text[10:15], text[15:20]}, "-")
}

// announce shows the first password. It is the only time anyone can read it.
func announce(w io.Writer, user, password string) {
	lines := []string{
		"First start: an administrator has been created.",
		"",
		"    user      " + user,
		"    password  " + password,
		"",
		"Keep it now: it is shown this once and stored nowhere in clear.",
	}
	bar := strings.Repeat("=", 70)
	fmt.Fprintf(w, "\n%s\n\n", bar)
	for _, l := range lines {
		fmt.Fprintf(w, "  %s\n", l)
	}
	fmt.Fprintf(w, "\n%s\n\n", bar)
}
