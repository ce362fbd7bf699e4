// Package config defines the configuration: defaults, the YAML file, and the settings stored at run time. It reads the file and
// checks values, but applies none of them.
//
//	defaults ◄─ settings stored through the API ◄─ file ◄─ flags and environment
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"belfry"
	"belfry/catalog"
	"belfry/collect/script"
)

// Config has all settings. Load fills in defaults, so the zero value is never used.
// The tag help is the text of the reference page; reload marks settings that SIGHUP can change.
type Config struct {
	Listen        string            `yaml:"listen" help:"address of the API and the web interface"`
	AdminListen   string            `yaml:"admin_listen" help:"address of /metrics and the profiler; empty: /metrics on listen, for callers on the same machine"`
	AdminHosts    string            `yaml:"admin_hosts" help:"host names accepted for /metrics and the profiler, separated by commas; addresses, localhost and the machine's own name are always accepted"`
	Data          string            `yaml:"data" help:"folder of all data of the service"`
	LogLevel      string            `yaml:"log_level" help:"debug, info, warn or error" reload:"yes"`
	Timezone      string            `yaml:"timezone" help:"time zone of times sent without one, such as Europe/Vienna; empty: the machine's" reload:"yes"`
	InsecureHTTP  bool              `yaml:"insecure_http" help:"allows a listen address without TLS that other machines can reach"`
	NoCollect     bool              `yaml:"no_collect" help:"starts no collectors: the service polls and receives nothing, to inspect a copy of the data"`
	StrictClasses bool              `yaml:"strict_classes" help:"rejects rows with an unknown class, instead of inferring the class from their values" reload:"yes"`
	TLS           TLS               `yaml:"tls"`
	Storage       Storage           `yaml:"storage"`
	Meta          Meta              `yaml:"meta"`
	Retention     Ages              `yaml:"retention" help:"how long each collection is kept, and its hourly and daily summaries, which must be kept at least as long as the rows; 0: forever" reload:"yes"`
	Limits        Limits            `yaml:"limits"`
	Runtime       Runtime           `yaml:"runtime"`
	Sessions      Sessions          `yaml:"sessions"`
	Secrets       Secrets           `yaml:"secrets"`
	Backup        Backup            `yaml:"backup"`
	OIDC          OIDC              `yaml:"oidc"`
	file          string            // path of the file
	sources       map[string]string // settings given on this machine, and where: see FromFile
	lines         map[string]int    // their lines in the file
}

// TLS says how connections are encrypted.
type TLS struct {
	Cert       string `yaml:"cert" help:"file of the certificate, with its chain, in PEM" reload:"yes"`
	Key        string `yaml:"key" help:"file of its private key, in PEM" reload:"yes"`
	SelfSigned bool   `yaml:"self_signed" help:"makes a certificate in the folder tls of the data folder"`
}

// Storage configures the row store.
type Storage struct {
	DuckDB  DuckDB `yaml:"duckdb"`
	MinFree Size   `yaml:"min_free" help:"free space on the disk below which writes are refused; 0: 1 GiB or 5 % of the disk, whichever is smaller" reload:"yes"`
	Reserve Size   `yaml:"reserve" help:"space reserved in a file, which is deleted when the disk is full so that acknowledged rows can still be stored"`
}

// EngineMemory is the name of the setting that Config.EngineMemory returns.
const EngineMemory = "storage.duckdb.memory_limit"

// EngineMemory returns how much memory the engine of the row store may use.
func (c *Config) EngineMemory() *Size { return &c.Storage.DuckDB.MemoryLimit }

// RowsDir returns the folder of the row store.
func (c *Config) RowsDir() string { return c.Inside(c.Storage.DuckDB.Dir) }

// DuckDB configures the embedded row store.
type DuckDB struct {
	Dir         string `yaml:"dir" help:"folder of the rows, inside data unless absolute"`
	MemoryLimit Size   `yaml:"memory_limit" help:"memory of the engine for queries and writing together; up to sixteen times as much if very long rows need it"`
}

// Meta configures the metadata store.
type Meta struct {
	SQLite SQLite `yaml:"sqlite"`
}

// SQLite configures the embedded metadata database.
type SQLite struct {
	Path string `yaml:"path" help:"file of the database, inside data unless absolute"`
}

// Limits limit what clients may use.
type Limits struct {
	Body         Size `yaml:"body" help:"size of a body, unpacked" reload:"yes"`
	BodyHeld     Size `yaml:"body_held" help:"size of a body with atomic or Idempotency-Key, which is held until its end" reload:"yes"`
	RowsHeld     int  `yaml:"rows_held" help:"rows of a body with atomic, dryrun or Idempotency-Key, which is processed in one go while others wait; a row about an unknown object counts as ten" reload:"yes"`
	MemoryHeld   Size `yaml:"memory_held" help:"memory for the decoded rows of all such bodies together, and for other bodies that are read completely; one customer may use half of it" reload:"yes"`
	Row          Size `yaml:"row" help:"size of one row of a body" reload:"yes"`
	Columns      int  `yaml:"columns" help:"columns of a CSV header" reload:"yes"`
	Indicators   int  `yaml:"indicators" help:"indicators of an object" reload:"yes"`
	BulkRequests int  `yaml:"bulk_requests" help:"bulk requests served at the same time; a quarter more for customers who have few of them" reload:"yes"`
	Objects      int  `yaml:"objects" help:"objects of one customer; the same limit applies to its resources, views and graphical elements together" reload:"yes"`
	Texts        Size `yaml:"texts" help:"memory for user-defined texts (answers, constants, notes, acknowledgments, classes, policies, users, keys); one customer may use half of it" reload:"yes"`
	MemoryItems  Size `yaml:"memory_items" help:"memory for items and the last values of their indicators; one customer may use three quarters of it if there are others" reload:"yes"`
	Receivers    int  `yaml:"receivers" help:"receivers of one customer: resources that listen on a port" reload:"yes"`
	// Each is a process that may use script.WorkerMemory.
	ScriptWorkers int `yaml:"script_workers" help:"processes that run scripts of receivers at the same time, at most one of a customer"`
	Connections   int `yaml:"connections" help:"connections to the API; further ones wait, and idle ones are closed for them"`
	RowRate       int `yaml:"row_rate" help:"rows per second of one customer; 0: unlimited" reload:"yes"`
	// Answers are kept for a day, so this also limits the requests per day with a key.
	IdempotencyKeys int      `yaml:"idempotency_keys" help:"requests with an Idempotency-Key that are remembered for one customer" reload:"yes"`
	Queries         int      `yaml:"queries" help:"queries of one customer that run at the same time; those of the present status have as many of their own" reload:"yes"`
	Streams         int      `yaml:"streams" help:"streams of one customer that are open at the same time" reload:"yes"`
	AllStreams      int      `yaml:"all_streams" help:"streams of all customers together" reload:"yes"`
	QueryTime       Duration `yaml:"query_time" help:"how long a query may take" reload:"yes"`
	Wait            Duration `yaml:"wait" help:"how long a request waits in the queue before it is refused" reload:"yes"`
	Idle            Duration `yaml:"idle" help:"how long a client may send or read nothing, or almost nothing, during a request" reload:"yes"`
	Stop            Duration `yaml:"stop" help:"how long a stop may take; journal records not yet in the row store are moved there at the next start" reload:"yes"`
}

// Runtime tunes the Go runtime; zero values leave it unchanged.
type Runtime struct {
	MemoryLimit Size `yaml:"memory_limit" help:"soft limit of the Go heap, like GOMEMLIMIT; 0: none" reload:"yes"`
	GCPercent   int  `yaml:"gc_percent" help:"how much the heap may grow between collections, like GOGC; 0: the default" reload:"yes"`
}

// Sessions limits how long users stay logged in.
type Sessions struct {
	MaxAge Duration `yaml:"max_age" help:"when a session ends, even if it is in use; an unused session ends after 12h" reload:"yes"`
}

// Secrets names the key file for receivers' secrets.
type Secrets struct {
	KeyFile string `yaml:"key_file" help:"file of the key with which secrets of receivers are encrypted, inside data unless absolute; created at the first start. Keep it separate from backups of data"`
}

// Backup configures the backups that the service makes by itself. They can be changed only where the service runs: whoever could
// change them from elsewhere could have all data written to a folder, or the backups deleted.
type Backup struct {
	Target     string   `yaml:"target" help:"folder for the backups that the service makes by itself, on another disk than data; empty: it makes none" reload:"yes"`
	Every      Duration `yaml:"every" help:"how often a backup is made: a part of a day, such as 6h, or whole days" reload:"yes"`
	At         string   `yaml:"at" help:"time of day of a backup, in timezone; the others of the day follow from it and every" reload:"yes"`
	Keep       int      `yaml:"keep" help:"how many backups are kept in target; older ones are deleted after a backup" reload:"yes"`
	Recipients string   `yaml:"recipients" help:"public keys (age1...) for which backups are encrypted, separated by commas; empty: not encrypted" reload:"yes"`
	Rate       Size     `yaml:"rate" help:"bytes per second that a backup of the running service reads; 0: as fast as the disk allows, which senders notice" reload:"yes"`
}

// Ages maps collections and summaries to their retention.
type Ages map[string]Duration

// Default is the configuration of an empty file.
func Default(cat *catalog.Catalog) *Config {
	return &Config{
		Listen:   "127.0.0.1:8080",
		Data:     "belfry-data",
		Runtime:  Runtime{GCPercent: 60}, // most of the heap is the long-lived tree; the default of 100 would leave as much again unused
		LogLevel: "info",
		Storage:  Storage{DuckDB: DuckDB{Dir: "rows", MemoryLimit: 256 << 20}, Reserve: 64 << 20},
		Meta:     Meta{SQLite: SQLite{Path: "meta.db"}},
		Limits: Limits{
			Body: 256 << 20, BodyHeld: 64 << 20, RowsHeld: 100_000, MemoryHeld: 256 << 20, MemoryItems: 1 << 30, Row: 1 << 20, Columns: 1000, Indicators: belfry.MaxIndicators,
			BulkRequests: 64, Objects: 1_000_000, Texts: 128 << 20, Receivers: 100, ScriptWorkers: script.DefaultWorkers, Connections: 10_000, IdempotencyKeys: 1_000_000, Queries: 4,
			Streams: 200, AllStreams: 1000,
			QueryTime: Duration(30 * time.Second), Wait: Duration(2 * time.Second), Idle: Duration(30 * time.Second),
			Stop: Duration(9 * time.Second), // many supervisors kill after ten
		},
		Secrets:   Secrets{KeyFile: "secret.key"},
		Backup:    Backup{Every: Duration(day), At: "02:00", Keep: 14, Rate: 25_000_000},
		Sessions:  Sessions{MaxAge: Duration(7 * day)},
		Retention: defaultAges(cat),
		OIDC:      OIDC{Customer: "default", Roles: map[string]string{}, Scopes: "openid profile email", Recheck: Duration(15 * time.Minute)},
	}
}

// Load reads a configuration file over the defaults; an empty name: defaults only.
func Load(file string, cat *catalog.Catalog) (*Config, error) {
	c := Default(cat)
	c.file = file
	if file == "" {
		return c, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	defer f.Close()
	if err := c.read(io.LimitReader(f, 1<<20)); err != nil {
		return nil, fmt.Errorf("configuration %s: %w", file, err)
	}
	return c, nil
}

func (c *Config) read(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	var given any
	if err := yaml.Unmarshal(text, &given); err != nil || given == nil {
		return yamlError(err)
	}
	if err := c.checkFile(text, given); err != nil {
		return err
	}
	defaults := *c
	c.Retention = nil
	if err := yaml.UnmarshalWithOptions(text, c, yaml.Strict()); err != nil {
		return yamlError(err)
	}
	c.restore(&defaults, given)
	c.remember(given)
	ages := maps.Clone(defaults.Retention)
	for name, age := range c.Retention {
		ages[name] = age
	}
	ages.stretch(c.Retention)
	c.Retention = ages
	return nil
}

// restore resets names without a value to their defaults: a section with only comments means no settings, not zero values.
func (c *Config) restore(defaults *Config, given any) {
	each(reflect.ValueOf(c).Elem(), reflect.ValueOf(defaults).Elem(), "", func(path string, mine, def reflect.Value, _ reflect.StructField) {
		at := given
		for _, name := range strings.Split(path, ".") {
			section, ok := at.(map[string]any)
			if !ok {
				break
			}
			if at, ok = section[name]; !ok {
				return
			}
		}
		if at == nil {
			mine.Set(def)
		}
	})
}

// yamlError adds the lines around it to the decoder's error.
func yamlError(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(strings.TrimSpace(yaml.FormatError(err, false, true)))
}

// Check returns all errors that do not depend on the machine.
func (c *Config) Check() error {
	var errs []error
	if _, err := c.Level(); err != nil {
		errs = append(errs, err)
	}
	if _, err := c.Zone(); err != nil {
		errs = append(errs, err)
	}
	if err := c.checkListen(); err != nil {
		errs = append(errs, err)
	}
	if c.Data == "" {
		errs = append(errs, errors.New("data: must name a folder"))
	}
	l := &c.Limits
	errs = append(errs,
		inRange("limits.body", l.Body, 1<<10, 1<<40),
		inRange("limits.body_held", l.BodyHeld, 1<<10, 1<<32),
		inRange("limits.rows_held", l.RowsHeld, 1000, 100_000_000),
		inRange("limits.memory_items", l.MemoryItems, 1<<20, 1<<44),
		inRange("limits.memory_held", l.MemoryHeld, 1<<20, 1<<40),
		inRange("limits.row", l.Row, 1<<10, 1<<30),
		inRange("limits.columns", l.Columns, 3, 100_000),
		inRange("limits.indicators", l.Indicators, 1, belfry.MaxIndicators),
		inRange("limits.bulk_requests", l.BulkRequests, 1, 100_000),
		inRange("limits.objects", l.Objects, 1, 100_000_000),
		inRange("limits.texts", l.Texts, 64<<10, 1<<40),
		inRange("limits.receivers", l.Receivers, 0, 10_000),
		inRange("limits.script_workers", l.ScriptWorkers, 1, 1000),
		inRange("limits.connections", l.Connections, 10, 1_000_000),
		inRange("limits.row_rate", l.RowRate, 0, 1_000_000_000),
		inRange("limits.idempotency_keys", l.IdempotencyKeys, 1, 100_000_000),
		inRange("limits.queries", l.Queries, 1, 1000),
		inRange("limits.streams", l.Streams, 1, 100_000),
		inRange("limits.all_streams", l.AllStreams, 1, 100_000),
		inRange("limits.query_time", l.QueryTime, Duration(time.Millisecond), Duration(day)),
		inRange("limits.wait", l.Wait, 0, Duration(time.Hour)),
		inRange("limits.idle", l.Idle, Duration(time.Second), Duration(day)),
		inRange("limits.stop", l.Stop, Duration(time.Second), Duration(time.Hour)),
		inRange(EngineMemory, *c.EngineMemory(), 64<<20, 1<<44),
		inRange("storage.reserve", c.Storage.Reserve, 0, 1<<40),
		inRange("sessions.max_age", c.Sessions.MaxAge, Duration(time.Minute), Duration(400*day)),
		inRange("runtime.gc_percent", c.Runtime.GCPercent, 0, 10_000),
	)
	errs = append(errs, c.Retention.check(), c.OIDC.check(), c.Backup.check())
	for i, err := range errs {
		errs[i] = c.inFile(err)
	}
	return errors.Join(errs...)
}

// inFile adds the line of the file to an error about a setting that comes from there.
func (c *Config) inFile(err error) error {
	if err == nil {
		return nil
	}
	name, _, _ := strings.Cut(err.Error(), ":")
	if line := c.lines[name]; line > 0 && c.sources[name] == FromFile {
		return fmt.Errorf("configuration %s: line %d: %w", c.file, line, err)
	}
	return err
}

func inRange[T cmp.Ordered](name string, v, low, high T) error {
	if v < low || v > high {
		return fmt.Errorf("%s: %v is out of range; it may be %v to %v", name, v, low, high)
	}
	return nil
}

func (c *Config) checkListen() error {
	if (c.TLS.Cert == "") != (c.TLS.Key == "") {
		return errors.New("tls: a certificate needs its key; set both --tls-cert and --tls-key")
	}
	if c.TLS.Cert != "" && c.TLS.SelfSigned {
		return errors.New("tls: use a certificate or a self-signed one, not both")
	}
	local, err := Loopback(c.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if !local && !c.Encrypted() && !c.InsecureHTTP {
		return fmt.Errorf("listen: other machines can reach %s and would send their keys in clear text; set --tls-cert and --tls-key, or --tls-self-signed, or allow it with --insecure-http", c.Listen)
	}
	if c.AdminListen == "" {
		return nil
	}
	if _, err := Loopback(c.AdminListen); err != nil {
		return fmt.Errorf("admin_listen: %w", err)
	}
	if _, port, _ := net.SplitHostPort(c.AdminListen); c.AdminListen == c.Listen && port != "0" {
		return fmt.Errorf("admin_listen: %s is already the address of listen; choose another port, or leave it empty to have /metrics there", c.AdminListen)
	}
	return nil
}

func (c *Config) Encrypted() bool { return c.TLS.Cert != "" || c.TLS.SelfSigned }

// Loopback reports whether only this machine can reach an address.
func Loopback(addr string) (bool, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return false, fmt.Errorf("%q is not HOST:PORT, such as 127.0.0.1:8080", addr)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return false, fmt.Errorf("%q has no port from 0 to 65535; write it like 127.0.0.1:8080", addr)
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback(), nil
}

// HostNames are the host names accepted for /metrics and the profiler.
func (c *Config) HostNames() []string {
	names := strings.FieldsFunc(c.AdminHosts, func(r rune) bool { return r == ',' || r == ' ' })
	for _, addr := range []string{c.Listen, c.AdminListen} {
		if host, _, err := net.SplitHostPort(addr); err == nil && host != "" {
			names = append(names, host)
		}
	}
	if name, err := os.Hostname(); err == nil {
		names = append(names, name)
	}
	return names
}

var logLevels = []string{"debug", "info", "warn", "error"}

func isLevel(name string) bool { return slices.Contains(logLevels, strings.ToLower(name)) }

func badLevel(name string) error {
	hint := ""
	if near := catalog.Nearest(name, logLevels); near != "" {
		hint = "; did you mean " + near + "?"
	}
	return fmt.Errorf("must be debug, info, warn or error, got %q%s", name, hint)
}

// Level returns the log level for slog.
func (c *Config) Level() (slog.Level, error) {
	var l slog.Level
	if isLevel(c.LogLevel) {
		return l, l.UnmarshalText([]byte(c.LogLevel))
	}
	return l, fmt.Errorf("log_level: %w", badLevel(c.LogLevel))
}

// Zone returns the zone of times without one.
func (c *Config) Zone() (*time.Location, error) {
	if c.Timezone == "" {
		return time.Local, nil
	}
	z, err := time.LoadLocation(c.Timezone)
	if err != nil {
		return nil, fmt.Errorf("timezone: unknown time zone %q; write it like Europe/Vienna or UTC", c.Timezone)
	}
	return z, nil
}

// File returns the path of the file that was read; empty: none.
func (c *Config) File() string { return c.file }

// Inside resolves a path against the data folder.
func (c *Config) Inside(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(c.Data, p)
}

// Write writes the configuration as a file with the same settings.
func (c *Config) Write(w io.Writer) error {
	text, err := yaml.MarshalWithOptions(c, yaml.IndentSequence(true))
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

func defaultAges(cat *catalog.Catalog) Ages {
	ages := Ages{}
	for _, c := range cat.Collections() {
		if c.Historical {
			ages[c.Name] = Duration(c.Retention.Std())
		}
	}
	summaryAges(cat, ages)
	return ages
}

func sortedKeys(a Ages) []string { return slices.Sorted(maps.Keys(a)) }

// summaryAges sets the default retention of summaries.
func summaryAges(cat *catalog.Catalog, ages Ages) {
	for _, c := range cat.Collections() {
		for _, sum := range c.Summaries {
			ages[c.SummaryName(sum.Period)] = Duration(sum.Retention.Std())
		}
	}
}
