package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"belfry"
	"belfry/client"
)

type provisionCmd struct {
	rowFlags
	cutFlags
	Package string `arg:"" optional:"" help:"Package of the items, such as view or network-ping."`
	File    string `arg:"" optional:"" help:"File of items in CSV, plain or compressed with gzip or zstd; - is standard input."`
	Dir     string `help:"Provision a folder written by export --dir: classes and pictures first, then each file." placeholder:"DIR"`
}

// Run provisions a file, or a folder of files in the order of their names.
func (c *provisionCmd) Run(s streams) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Dir != "" {
		if c.Package != "" || c.Rejected != "" {
			return usageError{errors.New("--dir cannot be combined with a package, a file or --rejected")}
		}
		return c.folder(s)
	}
	if c.Package == "" || c.File == "" {
		return usageError{errors.New(`expected "<package> <file>", or --dir`)}
	}
	return c.send(s, upload{method: http.MethodPost, pkg: c.Package, file: c.File, rows: c.Rows})
}

func (c *provisionCmd) folder(s streams) error {
	f, err := openFolder(c.Dir)
	if err != nil {
		return err
	}
	defer f.Close()
	list, err := exportedFiles(c.Dir)
	if err != nil && len(f.listed) == 0 {
		return err
	}
	if err := c.prepare(s, f, list); err != nil {
		return err
	}
	var rejected error
	for _, f := range list {
		err := c.send(s, upload{method: http.MethodPost, pkg: f.pkg, file: filepath.Join(c.Dir, f.name), rows: c.Rows, label: f.name + ": "})
		if _, some := errors.AsType[rejectedError](err); some {
			rejected = errors.Join(rejected, err)
		} else if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return rejected
}

// prepare checks the secrets of a folder and sends its classes and pictures before the rows.
func (c *provisionCmd) prepare(s streams, f *folder, list []exportFile) error {
	out := newConsole(s, "", true)
	if c.Dryrun {
		if len(f.listed) > 0 {
			out.println("classes and pictures are not part of a dry run")
		}
		return nil
	}
	cl, err := c.open(c.Compress, out.println)
	if err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	if err := checkSecrets(ctx, cl, c.Dir, list, out); err != nil {
		return err
	}
	p := &putting{ctx: ctx, client: cl, folder: f, out: out}
	return p.all(func(k fileKind, t putTotals) error {
		if !c.JSON {
			_, err := fmt.Fprintf(s.out, "%s: created %d, updated %d, unchanged %d, rejected %d\n", k.folder, t.Created, t.Updated, t.Unchanged, t.Rejected)
			return err
		}
		return json.NewEncoder(s.out).Encode(map[string]putTotals{k.folder: t})
	})
}

// putTotals counts the results for classes, or for pictures.
type putTotals struct {
	Created   int `json:"created"`
	Updated   int `json:"updated"`
	Unchanged int `json:"unchanged"`
	Rejected  int `json:"rejected"`
}

// putting sends the classes and pictures of a folder. The rows are not sent if one of these fails: objects would be created with
// classes inferred from their first values, and the types of inferred indicators cannot be corrected.
type putting struct {
	ctx    context.Context
	client *client.Client
	folder *folder
	out    *console

	lesser bool         // the key lacks the level
	left   []listedFile // not sent for that reason
	bad    int          // failed for other reasons
}

// all sends them, and reports the result of each kind.
func (p *putting) all(report func(fileKind, putTotals) error) error {
	unlisted, err := p.folder.unlisted()
	if err != nil {
		return err
	}
	for _, name := range unlisted {
		p.out.println(fmt.Sprintf("%s is not in %s and was left out", name, listName))
	}
	for _, k := range fileKinds {
		files := slices.DeleteFunc(slices.Clone(p.folder.listed), func(l listedFile) bool { return l.kind() != k })
		if len(files) == 0 {
			continue
		}
		totals, err := p.kind(k, files)
		if err != nil {
			return err
		}
		if err := report(k, totals); err != nil {
			return err
		}
	}
	const rest = "nothing else of the folder was sent"
	switch {
	case p.lesser:
		return fmt.Errorf("the key needs the level readwritedelete to change classes and pictures, and %s; left out: %s", rest, someOf(p.left))
	case p.bad > 0:
		return fmt.Errorf("%s rejected, and %s; correct them, or remove their lines from %s", count(p.bad, "file")+map[bool]string{true: " was", false: " were"}[p.bad == 1], rest, listName)
	}
	return nil
}

func someOf(files []listedFile) string {
	var names []string
	for _, l := range files[:min(len(files), shownProblems)] {
		names = append(names, client.Printable(l.String()))
	}
	if more := len(files) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// kind sends the files of one kind that differ from the server's.
func (p *putting) kind(k fileKind, files []listedFile) (t putTotals, err error) {
	have, err := p.digests(k)
	if err != nil {
		return t, err
	}
	for _, l := range files {
		text, err := p.read(l)
		result := "unchanged"
		if err == nil && have[l.name] != digest(text) {
			result, err = p.put(k, l, text)
		}
		switch failed, refused := errors.AsType[*client.Failure](err); {
		case refused && failed.Code == belfry.InsufficientLevel:
			p.lesser, p.left = true, append(p.left, l)
			t.Rejected++
		case refused && failed.Status < 500 || errors.As(err, new(fileError)):
			p.bad++
			t.Rejected++
			p.out.println(fmt.Sprintf("%s: %v", l.file, err))
		case err != nil:
			return t, fmt.Errorf("%s: %w", l.file, err)
		case result == "created":
			t.Created++
		case result == "updated":
			t.Updated++
		default:
			t.Unchanged++
		}
	}
	return t, nil
}

// digests returns the digests of the server's files by name.
func (p *putting) digests(k fileKind) (map[string]string, error) {
	have := map[string]string{}
	if k.path == client.PicturesPath {
		return have, p.client.Pictures(p.ctx, func(picture client.Picture) error { have[picture.Name] = picture.ETag; return nil })
	}
	return have, p.client.Classes(p.ctx, func(name string, text []byte) error { have[name] = digest(text); return nil })
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// fileError means that a file could not be read.
type fileError struct{ error }

// maxListed is above the limit for a class or picture.
const maxListed = 16 << 20

func (p *putting) read(l listedFile) ([]byte, error) {
	file, err := p.folder.Open(l.file)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err // the caller adds the path
	}
	if err != nil {
		return nil, fileError{err}
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxListed+1))
	if err == nil && len(text) > maxListed {
		err = fmt.Errorf("it is longer than %d bytes, the limit for a class or picture", maxListed)
	}
	if err != nil {
		return nil, fileError{err}
	}
	return text, nil
}

func (p *putting) put(k fileKind, l listedFile, text []byte) (result string, err error) {
	switch {
	case p.lesser:
		return "", &client.Failure{Code: belfry.InsufficientLevel} // it need not be asked again
	case k.path == client.PicturesPath:
		return p.client.Put(p.ctx, k.path, l.name, "application/octet-stream", text) // the server looks at the bytes
	}
	if len(text) > plainClass {
		var short bytes.Buffer
		if json.Compact(&short, text) == nil {
			text = short.Bytes()
		}
	}
	return p.client.Put(p.ctx, k.path, l.name, "application/yaml", text) // which JSON is, too
}

// plainClass is the longest class that is sent unchanged, so that errors name its lines. A longer one is sent without white
// space: the server accepts no more bytes than it writes itself.
const plainClass = 64 << 10
