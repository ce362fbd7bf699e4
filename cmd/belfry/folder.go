package main

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"belfry/client"
)

// listName is the file of an exported folder that lists the files of classes and pictures with their names on the server, which
// may be longer and contain other characters than file names.
const listName = "files.csv"

// listedFile is a class or picture in an exported folder.
type listedFile struct {
	file string // such as classes/disk.json
	name string // on the server
}

// fileKind is a kind of listed file.
type fileKind struct {
	folder, one string
	path        string // of the API
}

// fileKinds are in the order in which they are sent, before all rows: objects need their classes.
var fileKinds = []fileKind{
	{"classes", "class", client.ClassesPath},
	{"pictures", "picture", client.PicturesPath},
}

var listedPath = regexp.MustCompile(`^(classes|pictures)/[^/\\.][^/\\]*$`)

// folder is an exported folder. Nothing outside of it is read or written, whatever its list says.
type folder struct {
	*os.Root
	listed []listedFile // by file
}

// openFolder opens an exported folder and reads its list, if it has one.
func openFolder(dir string) (*folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f := &folder{Root: root}
	if err := f.readList(); err != nil {
		root.Close()
		return nil, fmt.Errorf("%s: %w", listName, err)
	}
	return f, nil
}

// maxList limits the list: 11,000 names of 255 characters, and their files.
const maxList = 64 << 20

func (f *folder) readList() error {
	file, err := f.Open(listName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	r := csv.NewReader(io.LimitReader(file, maxList))
	header, err := r.Read()
	if err != nil || !slices.Equal(header, []string{"file", "name"}) {
		return errors.New("this is not the list of an exported folder, which begins with the line file,name; move it elsewhere")
	}
	seen := map[string]bool{}
	for {
		row, err := r.Read()
		if err == io.EOF {
			slices.SortFunc(f.listed, byFile)
			return nil
		}
		if err != nil {
			return err
		}
		line, _ := r.FieldPos(0)
		l := listedFile{row[0], row[1]}
		name := l.kind().folder + " " + l.name
		switch {
		case !listedPath.MatchString(l.file) || l.name == "":
			return fmt.Errorf("line %d: %q is not a file of the folder classes or pictures with a name", line, l.file)
		case seen[l.file] || seen[name]:
			return fmt.Errorf("line %d: %s or its name %q is in the list twice; remove one of them", line, l.file, l.name)
		}
		seen[l.file], seen[name] = true, true
		f.listed = append(f.listed, l)
	}
}

func byFile(a, b listedFile) int { return strings.Compare(a.file, b.file) }

func (l listedFile) kind() fileKind {
	return fileKinds[max(0, slices.IndexFunc(fileKinds, func(k fileKind) bool { return strings.HasPrefix(l.file, k.folder+"/") }))]
}

// String describes the file in messages.
func (l listedFile) String() string { return fmt.Sprintf("%s %q", l.kind().one, l.name) }

// writeList writes a new list and removes the files that only the old one has. Other files are not part of the export and stay.
func (f *folder) writeList(listed []listedFile) error {
	slices.SortFunc(listed, byFile)
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	_ = w.Write([]string{"file", "name"}) // a buffer takes everything
	for _, l := range listed {
		_ = w.Write([]string{l.file, l.name})
	}
	w.Flush()
	if len(listed) > 0 {
		if err := f.write(listName, text.Bytes()); err != nil {
			return err
		}
	} else if err := f.removeIfThere(listName); err != nil {
		return err
	}
	for _, old := range f.listed {
		if slices.ContainsFunc(listed, func(l listedFile) bool { return l.file == old.file }) {
			continue
		}
		if err := f.removeIfThere(old.file); err != nil {
			return err
		}
		if in := old.kind().folder; f.isFolder(in) {
			_ = f.Remove(in) // only if empty
		}
	}
	return nil
}

func (f *folder) isFolder(name string) bool {
	info, err := f.Lstat(name)
	return err == nil && info.IsDir()
}

func (f *folder) removeIfThere(name string) error {
	if err := f.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// write writes a file atomically.
func (f *folder) write(name string, text []byte) error {
	temporary := ".belfry-export-" + rand.Text()
	defer f.Remove(temporary) // fails after the rename
	if err := f.WriteFile(temporary, text, 0o644); err != nil {
		return err
	}
	return f.Rename(temporary, name)
}

// unlisted returns the files that look like part of the export but are not listed.
func (f *folder) unlisted() (names []string, err error) {
	for _, k := range fileKinds {
		entries, err := fs.ReadDir(f.FS(), k.folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			name := k.folder + "/" + e.Name()
			if listedPath.MatchString(name) && !slices.ContainsFunc(f.listed, func(l listedFile) bool { return l.file == name }) {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// fileName returns a file name for a thing that is valid and unique on every file system: lower-case letters, digits, - and _
// stay, other bytes are escaped as in a URL. A long name is cut and gets a digest.
func fileName(name, extension string) string {
	const most, kept = 120, 80
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	text := b.String()
	switch {
	case len(text) > most:
		sum := sha256.Sum256([]byte(name))
		text = text[:kept] + "~" + hex.EncodeToString(sum[:16])
	case device.MatchString(text):
		text = fmt.Sprintf("%%%02x%s", text[0], text[1:])
	}
	return text + "." + extension
}

// device matches names that Windows reserves for devices, with any extension.
var device = regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)

// extensions of pictures, by media type.
var extensions = map[string]string{
	"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp", "image/svg+xml": "svg",
}

// listed writes the classes and pictures of the customer to a folder.
func (x *exporter) listed(f *folder) error {
	var done []listedFile
	save := func(k fileKind, name, extension string, text []byte) error {
		l := listedFile{k.folder + "/" + fileName(name, extension), name}
		done = append(done, l)
		if err := f.MkdirAll(k.folder, 0o777); err != nil {
			return err
		}
		return f.write(l.file, text)
	}
	err := x.client.Classes(x.ctx, func(name string, text []byte) error { return save(fileKinds[0], name, "json", text) })
	if err != nil {
		return err
	}
	x.counted(fileKinds[0], len(done))
	classes := len(done)
	err = x.client.Pictures(x.ctx, func(p client.Picture) error {
		image, err := x.client.Picture(x.ctx, p.Name)
		if f, ok := errors.AsType[*client.Failure](err); ok && f.Status == 404 {
			return nil // removed just now
		}
		if err != nil {
			return err
		}
		return save(fileKinds[1], p.Name, cmp.Or(extensions[p.Type], "image"), image)
	})
	if err != nil {
		return err
	}
	x.counted(fileKinds[1], len(done)-classes)
	return f.writeList(done)
}

func (x *exporter) counted(k fileKind, n int) {
	if n > 0 {
		x.println(fmt.Sprintf("%s: %s", k.folder, count(n, "file")))
	}
}
