package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// markJob tells BenchmarkMark of the package store/duck what to run, and on which files.
type markJob struct {
	Files  map[string]string // by the name under which the statements know them
	Marks  []string          // statements
	Runs   int               // of each, at least
	Each   float64           // seconds that each is run for, at least
	Most   float64           // … after which a few runs are enough
	Answer string            // file for the list of marked
}

// marked is what a hand-written statement took on the engine alone, without HTTP and without names.
type marked struct {
	timing
	Rows int
	Sum  float64 // of the last column
}

// marks runs the hand-written statements of questions on the files of a server that is stopped.
func (b *bench) marks(ctx context.Context, data string, sc scale, list []question) (map[string]*marked, error) {
	j := markJob{Files: map[string]string{}, Runs: sc.runs, Each: sc.each, Most: sc.most / 4, Answer: filepath.Join(b.tmp, "marks-answer.json")}
	for _, collection := range []string{"objectdata", "objectlog"} {
		files, err := filepath.Glob(filepath.Join(data, "rows", collection, "????-??-??.duckdb"))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			date := strings.TrimSuffix(filepath.Base(f), ".duckdb")
			j.Files[collection+strings.ReplaceAll(date, "-", "")] = f
		}
	}
	for _, q := range list {
		if q.mark != "" {
			j.Marks = append(j.Marks, q.mark)
		}
	}
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(b.tmp, "marks.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	if _, err := b.goBench(ctx, "./store/duck", "^BenchmarkMark$", "1x", "BELFRY_MARKS="+file); err != nil {
		return nil, err
	}
	return readMarks(j)
}

func readMarks(j markJob) (map[string]*marked, error) {
	text, err := os.ReadFile(j.Answer)
	if err != nil {
		return nil, err
	}
	var list []*marked
	if err := json.Unmarshal(text, &list); err != nil || len(list) != len(j.Marks) {
		return nil, fmt.Errorf("%d marks were asked for, got %d: %w", len(j.Marks), len(list), err)
	}
	by := map[string]*marked{}
	for i, m := range list {
		by[j.Marks[i]] = m
	}
	return by, nil
}
