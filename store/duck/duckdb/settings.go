package duckdb

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"belfry/store/duck/dialect"
)

// Options are the limits of an engine that keeps its files in a folder.
type Options struct {
	Dir      string
	Memory   int64
	Threads  int
	LogLimit int64 // size at which a file's log is checkpointed
}

// Settings returns the settings of an engine with these limits.
func (o Options) Settings() []Setting {
	mb := func(n int64) string { return strconv.FormatInt(max(n>>20, 1), 10) + "MiB" }
	return []Setting{
		{Name: "memory_limit", Value: mb(o.Memory)},
		{Name: "threads", Value: strconv.Itoa(o.Threads)},
		{Name: "checkpoint_threshold", Value: mb(o.LogLimit)},
		{Name: "temp_directory", Value: filepath.Join(o.Dir, "tmp")},
		{Name: "max_temp_directory_size", Value: mb(4 * o.Memory)},
		{Name: "perfect_ht_threshold", Value: dialect.GroupBits},
		// Return freed memory to the system soon: otherwise the allocator keeps several times the limit.
		{Name: "allocator_flush_threshold", Value: mb(o.Memory / 32)},
		{Name: "allocator_bulk_deallocation_flush_threshold", Value: mb(o.Memory / 4)},
		{Name: "autoinstall_known_extensions", Value: "false"},
		{Name: "autoload_known_extensions", Value: "false"},
		{Name: "allow_community_extensions", Value: "false"},
	}
}

// LockDown restricts the engine to the files in dir; no statement can change that. The engine requires this order of
// settings.
func LockDown(ctx context.Context, c *Conn, dir string) error {
	for _, text := range []string{
		"PRAGMA disable_checkpoint_on_shutdown", // nor on DETACH: we decide when to checkpoint
		"SET allowed_directories = [" + QuoteText(dir+string(filepath.Separator)) + "]",
		"SET enable_external_access = false",
		"SET lock_configuration = true",
	} {
		if err := c.Exec(ctx, text); err != nil {
			return fmt.Errorf("lock the engine in: %w", err)
		}
	}
	return nil
}

// QuoteText returns a text as a literal of the engine.
func QuoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// IDList returns ids as the engine lists them. As part of a statement they are faster than arguments.
func IDList[T ~int32 | ~int64 | ~uint32 | ~uint64](ids []T) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.FormatInt(int64(id), 10))
	}
	return b.String()
}
