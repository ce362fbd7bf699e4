package accounts

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
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

// HashPassword returns the stored form of a password.
func HashPassword(password string) string {
	salt := make([]byte, argonSalt)
	rand.Read(salt)
	sum := argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonThreads, argonLength)
	return phc(salt, sum)
}

func phc(salt, sum []byte) string {
	enc := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads,
		enc.EncodeToString(salt), enc.EncodeToString(sum))
}

// unknownPassword returns the stored form of a random password, as costly to compare with as any other.
func unknownPassword() string {
	random := make([]byte, argonSalt+argonLength)
	rand.Read(random)
	return phc(random[:argonSalt], random[argonSalt:])
}

// CheckPassword compares a password with its stored form, which has the cost parameters, within limits.
func CheckPassword(stored, password string) bool {
	var version, memory, time, threads int
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return false
	}
	if _, err := fmt.Sscanf(parts[2]+" "+parts[3], "v=%d m=%d,t=%d,p=%d", &version, &memory, &time, &threads); err != nil {
		return false
	}
	if version != argon2.Version || memory < 8 || memory > 1<<18 || time < 1 || time > 16 || threads < 1 || threads > 16 {
		return false
	}
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
	sum, sumErr := base64.RawStdEncoding.DecodeString(parts[5])
	if saltErr != nil || sumErr != nil || len(sum) < 16 || len(sum) > 64 {
		return false
	}
	got := argon2.IDKey([]byte(password), salt, uint32(time), uint32(memory), uint8(threads), uint32(len(sum)))
	return subtle.ConstantTimeCompare(got, sum) == 1
}

// NewPassword returns a password of 100 random bits, in groups that are easy to read.
func NewPassword() string {
	text := strings.ToLower(rand.Text())
	return strings.Join([]string{text[:5], text[5:10], text[10:15], text[15:20]}, "-")
}
