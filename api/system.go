package api

import (
	"net/http"
	"strconv"

	"belfry"
	"belfry/api/meter"
	"belfry/backup"
	"belfry/engine/audit"
)

// wasOpen is the header in which a confirmation says whether there was anything to confirm.
var wasOpen = Param{Name: "X-Fault-Was-Open", Help: "Whether the fault was open before it was confirmed.", Schema: "type=boolean"}

var healthRoutes = []Route{
	{
		Method: "GET", Path: "/api/health", Level: belfry.LevelInstance, serve: (*Server).system,
		ID: "systemHealth", Tag: "service", Help: "Shows the state of the service: rows per second, refused rows with the reason, disk space, memory, slow queries.",
		Detail:  "Includes all customers, so it is only for instance administrators.",
		Answers: []Answer{answers(200, "Counters since the start, rates of the last quarter of an hour, space, memory, slow queries.", Health{})},
	},
	{
		Method: "POST", Path: "/api/health/clock", Level: belfry.LevelInstance, serve: (*Server).confirmClock,
		ID: "confirmClock", Tag: "service", Help: "Confirms that the clock is right after it was found far off; deletion resumes.",
		Detail:  "After the clock was found off by more than a day nothing is deleted. This accepts the clock as it is: the fault `clock` ends, and expired data are removed.",
		Answers: []Answer{{Status: 204, Help: "The clock is accepted as it is.", Headers: []Param{wasOpen}}},
	},
	{
		Method: "POST", Path: "/api/health/faults/{id}", Level: belfry.LevelInstance, serve: (*Server).confirmFault,
		ID: "confirmFault", Tag: "service", Help: "Confirms a fault that stays open until it is acknowledged: `journal_loss` or `clock`.",
		Detail:    "After `journal_loss` is confirmed, queries over the time of the lost rows are answered again. Other faults end when their cause does.",
		Wildcards: []Param{{Name: "id", Help: "The fault, as `/api/health` shows it.", Example: "journal_loss"}},
		Answers:   []Answer{{Status: 204, Help: "The fault has ended.", Headers: []Param{wasOpen}}},
		Errors:    []belfry.Code{belfry.UnknownItem},
	},
}

// Health is the condition of the service.
type Health struct {
	Version     Version         `json:"version"`
	Started     string          `json:"started" schema:"format=date-time"`
	Uptime      float64         `json:"uptime" help:"Seconds." schema:"minimum=0"`
	Ready       bool            `json:"ready"`
	Why         string          `json:"why,omitempty" help:"Why it is not ready."`
	Faults      []HealthFault   `json:"faults" help:"Open faults, the oldest first."`
	Rows        HealthRows      `json:"rows" help:"Rows since the start: received = stored + rejected + discarded + tried + dropped."`
	Journal     HealthJournal   `json:"journal"`
	Disk        HealthDisk      `json:"disk"`
	Memory      HealthMemory    `json:"memory"`
	Queries     HealthQueries   `json:"queries"`
	Items       map[string]int  `json:"items" help:"Number of items by kind."`
	Streams     int             `json:"streams"`
	Sessions    int             `json:"sessions"`
	Connections HealthConnected `json:"connections"`
	Backup      *backup.State   `json:"backup,omitempty" help:"Backups: what runs, what was done last and what is scheduled."`
}

// HealthFault is something around the service that is wrong now.
type HealthFault struct {
	ID      string `json:"id"`
	Since   string `json:"since" schema:"format=date-time"`
	Message string `json:"message"`
	Blocks  bool   `json:"blocks" help:"Data cannot be sent or queried."`
}

// HealthRows is what became of rows since the start, and how many come in.
type HealthRows struct {
	Received  int64            `json:"received"`
	Stored    int64            `json:"stored"`
	Rejected  int64            `json:"rejected"`
	Discarded int64            `json:"discarded"`
	Tried     int64            `json:"tried"`
	Dropped   map[string]int64 `json:"dropped" help:"By reason."`
	Rate      float64          `json:"rate" help:"Rows received per second, now."`
	Series    []HealthRate     `json:"series" help:"Rates of the last quarter of an hour, one point every ten seconds, oldest first."`
}

// HealthRate is how many rows came in, and were stored, per second, before a moment.
type HealthRate struct {
	At       string  `json:"timestamp" schema:"format=date-time"`
	Received float64 `json:"received"`
	Stored   float64 `json:"stored"`
}

// HealthJournal is what is on its way from the journal into the stores.
type HealthJournal struct {
	Bytes    int64   `json:"bytes"`
	Segments int     `json:"segments"`
	Rows     int     `json:"rows" help:"Rows that are not yet in the row store."`
	Records  int     `json:"records" help:"Records that are not yet in the metadata database."`
	Oldest   float64 `json:"oldest" help:"Seconds that the oldest row has waited for the row store."`
}

// HealthDisk is the space that is used and left.
type HealthDisk struct {
	Free        int64              `json:"free"`
	Total       int64              `json:"total"`
	Metadata    int64              `json:"metadata" help:"Bytes of the metadata database."`
	Collections []HealthCollection `json:"collections"`
	Folders     []HealthFolder     `json:"folders" help:"The file systems of the folders that are written to; those on one file system have the same figures."`
}

// HealthFolder is the space of the file system that a folder is on.
type HealthFolder struct {
	Name  string `json:"name" schema:"enum=data|rows|metadata|journal|spool"`
	Path  string `json:"path"`
	Free  int64  `json:"free"`
	Total int64  `json:"total"`
}

// HealthCollection is the space of one collection.
type HealthCollection struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	Files int    `json:"files"`
}

// HealthMemory is what the process uses.
type HealthMemory struct {
	Resident   int64 `json:"resident"`
	Heap       int64 `json:"heap"`
	Goroutines int   `json:"goroutines"`

	Limit  int64            `json:"limit" help:"Memory limit of the process in bytes; 0: unknown."`
	Budget map[string]int64 `json:"budget" help:"Memory limit of each part of the service in bytes."`
}

// HealthQueries is what is asked.
type HealthQueries struct {
	Running int               `json:"running"`
	Total   map[string]int64  `json:"total" help:"By outcome."`
	Slowest []meter.SlowQuery `json:"slowest" help:"The slowest of the last hour." schema:"maxItems=50"`
}

// HealthConnected counts connections.
type HealthConnected struct {
	Open int `json:"open"`
	Idle int `json:"idle"`
}

// system answers with the condition of the service. It covers all customers, so it is for instance administrators only.
func (s *Server) system(w *answer, r *request) error {
	const whose = 0 // of all customers
	h, err := s.Health(whose)
	if err != nil {
		return err
	}
	h.Version = s.Version
	if err := s.Ready(); err != nil {
		h.Why = messageOf(err)
	} else {
		h.Ready = true
	}
	if s.Backups != nil {
		state := s.Backups.State()
		h.Backup = &state
	}
	h.Queries.Slowest = s.slow.List(whose, s.Now(), s.Tree.Access().CustomerName)
	writeJSON(w, http.StatusOK, h)
	return nil
}

// confirmClock confirms that the clock is right.
func (s *Server) confirmClock(w *answer, r *request) error {
	return s.confirm(w, r, "clock")
}

// confirmFault confirms a fault.
func (s *Server) confirmFault(w *answer, r *request) error { return s.confirm(w, r, r.PathValue("id")) }

// FaultHeader is in the answer to a confirmation and says whether the fault was open.
const FaultHeader = "X-Fault-Was-Open"

func (s *Server) confirm(w *answer, r *request, fault string) error {
	open, err := s.ConfirmFault(fault, r.who)
	if err != nil {
		return err
	}
	if open {
		c := audit.Change{Kind: audit.KindFault, Name: fault, Action: audit.ActionConfirmed, Info: "fault " + fault + " confirmed"}
		if err := s.Engine.Audited(r.sender(), c); err != nil {
			s.Log.Warn("the confirmation of a fault is not in the audit trail", "fault", fault, "err", err)
		}
	}
	w.Header().Set(FaultHeader, strconv.FormatBool(open))
	w.WriteHeader(http.StatusNoContent)
	return nil
}
