package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"belfry"
	"belfry/config"
)

const (
	// ManifestFile is the name of the manifest.
	ManifestFile = "backup.json"

	manifestFormat = 1
	maxManifest    = 256 << 20
	maxState       = 1024
	sumLine        = 2*sha256.Size + 1
)

// Manifest says what a backup holds. Its file is JSON and, as the last line, the SHA-256 of everything before that line.
type Manifest struct {
	Format    int             `json:"format"`
	Program   string          `json:"program"` // that made it
	Instance  string          `json:"instance"`
	Position  belfry.Position `json:"position"` // of the last journal record in it
	Begin     time.Time       `json:"begin"`
	End       time.Time       `json:"end"`
	Encrypted []string        `json:"encrypted,omitempty"` // recipients, sorted; none: not encrypted
	Files     []Entry         `json:"files"`
	Missing   []Missing       `json:"missing,omitempty"`
	Lost      []Missing       `json:"lost,omitempty"`    // files that note rows that were lost before the backup
	Damaged   []Missing       `json:"damaged,omitempty"` // files in it whose content was damaged when they were copied

	sum  string // of the file; identifies the backup
	path string // see Path

	passed []string // see Passed
}

// Entry is a file in a backup.
type Entry struct {
	Name   string `json:"name"`            // without the suffix of an encrypted file
	Source int64  `json:"source"`          // bytes before they were encrypted
	State  string `json:"state,omitempty"` // of the source, see File
	Size   int64  `json:"size"`            // bytes as stored
	SHA256 string `json:"sha256"`          // of these
}

// Missing is a file that could not be read, or with which something else is wrong.
type Missing struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Path returns the folder of a backup that was just made; empty: it is a stream.
func (m *Manifest) Path() string { return m.path }

// Passed says which earlier backups in its folder cannot be used, and why. Those of other instances are not among them.
func (m *Manifest) Passed() []string { return m.passed }

// Stored returns the name of a file in the backup.
func (m *Manifest) Stored(name string) string {
	if len(m.Encrypted) > 0 {
		return name + sealedSuffix
	}
	return name
}

// Bytes returns the size of the files as stored, those that are linked included.
func (m *Manifest) Bytes() (n int64) {
	for _, e := range m.Files {
		n += e.Size
	}
	return n
}

// lacks returns the files that every instance has and that are neither listed nor missing.
func (m *Manifest) lacks() (names []string) {
	for _, name := range everyName() {
		listed := slices.ContainsFunc(m.Files, func(e Entry) bool { return e.Name == name })
		if !listed && !slices.ContainsFunc(m.Missing, func(f Missing) bool { return f.Name == name }) {
			names = append(names, name)
		}
	}
	return names
}

// Sound reports whether nothing is missing or damaged, and no rows were lost before.
func (m *Manifest) Sound() bool { return len(m.Missing)+len(m.Lost)+len(m.Damaged) == 0 }

// Texts returns what is missing, what was lost before, and what is damaged, with the reasons.
func (m *Manifest) Texts() (missing, lost, damaged []string) {
	return texts(m.Missing), texts(m.Lost), texts(m.Damaged)
}

func texts(of []Missing) (list []string) {
	for _, f := range of {
		list = append(list, f.Name+": "+f.Reason)
	}
	return list
}

// encode returns the file.
func (m *Manifest) encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(m); err != nil {
		return nil, err
	}
	m.sum = sumOf(b.Bytes())
	b.WriteString(m.sum + "\n")
	if b.Len() > maxManifest {
		return nil, fmt.Errorf("%s would have %d bytes for %d files, and at most %d are allowed; shorten the retention, so that there are fewer files", ManifestFile, b.Len(), len(m.Files), maxManifest)
	}
	return b.Bytes(), nil
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

const (
	otherRemedy   = "; use another backup"
	versionRemedy = "; use the version of the program that made the backup, or a newer one"
)

// readManifest reads and checks a manifest; path is for messages.
func readManifest(r io.Reader, path string) (*Manifest, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxManifest+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	m, err := decodeManifest(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// decodeManifest accepts exactly what encode writes. So nothing in the file can be overlooked, whoever wrote it.
func decodeManifest(text []byte) (*Manifest, error) {
	n := len(text) - sumLine
	if n < 1 || len(text) > maxManifest || sumOf(text[:n])+"\n" != string(text[n:]) {
		return nil, errors.New("it is damaged: its last line is not the SHA-256 of those before" + otherRemedy)
	}
	m := &Manifest{sum: string(text[n : len(text)-1])}
	text = text[:n]
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, invalid(text, err)
	}
	if head.Format != manifestFormat {
		return nil, fmt.Errorf("it has format %d, and this program knows format %d%s", head.Format, manifestFormat, versionRemedy)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(m); err != nil {
		return nil, invalid(text, err)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("%w%s", err, otherRemedy)
	}
	again, err := (&Manifest{m.Format, m.Program, m.Instance, m.Position, m.Begin, m.End, m.Encrypted, m.Files, m.Missing, m.Lost, m.Damaged, "", "", nil}).encode()
	if err != nil || !bytes.Equal(again[:max(len(again)-sumLine, 0)], text) {
		return nil, fmt.Errorf("line %d is not written the way this program writes it%s", differs(text, again), otherRemedy)
	}
	return m, nil
}

// invalid adds the line to an error of the decoder.
func invalid(text []byte, err error) error {
	place := ""
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		place = fmt.Sprintf("line %d: ", lineAt(text, e.Offset))
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		place = fmt.Sprintf("line %d: ", lineAt(text, e.Offset))
	}
	return fmt.Errorf("%s%w%s", place, err, otherRemedy)
}

func lineAt(text []byte, offset int64) int {
	return bytes.Count(text[:min(max(offset, 0), int64(len(text)))], []byte("\n")) + 1
}

// differs returns the first line that differs.
func differs(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return lineAt(a, int64(n))
}

// check checks the values.
func (m *Manifest) check() error {
	switch {
	case !isHex(m.Instance, 32):
		return fmt.Errorf("instance should be 32 hexadecimal digits and is %.40q", m.Instance)
	case !plain(m.Program, 200):
		return fmt.Errorf("program is %.40q", m.Program)
	case m.Files == nil:
		return errors.New("it has no list of files")
	}
	for _, r := range m.Encrypted {
		if _, err := config.ParseRecipients([]string{r}); err != nil {
			return err
		}
	}
	names := nameSet{}
	for i, e := range m.Files {
		err := checkName(e.Name)
		if err == nil {
			err = names.add(e.Name)
		}
		switch {
		case err != nil:
		case e.Size < 0 || e.Source < 0 || len(m.Encrypted) == 0 && e.Size != e.Source:
			err = fmt.Errorf("%q has the sizes %d and %d", e.Name, e.Source, e.Size)
		case !isHex(e.SHA256, 2*sha256.Size):
			err = fmt.Errorf("%q has the SHA-256 %.80q", e.Name, e.SHA256)
		case !plain(e.State, maxState):
			err = fmt.Errorf("%q has the state %.40q", e.Name, e.State)
		}
		if err != nil {
			return fmt.Errorf("file %d: %w", i+1, err)
		}
	}
	for i, e := range m.Missing {
		err := checkName(e.Name)
		if err == nil {
			err = names.add(e.Name)
		}
		if err != nil {
			return fmt.Errorf("missing file %d: %w", i+1, err)
		}
	}
	for i, e := range slices.Concat(m.Lost, m.Damaged) {
		if err := checkName(e.Name); err != nil {
			return fmt.Errorf("note %d of lost rows or damaged files: %w", i+1, err)
		}
	}
	return nil
}

func isHex(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789abcdef") == ""
}

// plain reports whether a text can be printed as it is.
func plain(s string, most int) bool {
	return len(s) <= most && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}
