package api

import (
	"net/http"
	"strconv"
)

// Health is how the service fares.
type Health struct {
	Version     Version         `json:"version"`
	Started     string          `json:"started"`
	Uptime      float64         `json:"uptime"` // seconds
	Ready       bool            `json:"ready"`
	Why         string          `json:"why,omitempty"` // it is not
	Faults      []HealthFault   `json:"faults"`        // the longest open first
	Rows        HealthRows      `json:"rows"`
	Journal     HealthJournal   `json:"journal"`
	Disk        HealthDisk      `json:"disk"`
	Memory      HealthMemory    `json:"memory"`
	Queries     HealthQueries   `json:"queries"`
	Items       map[string]int  `json:"items"` // by kind
	Streams     int             `json:"streams"`
	Sessions    int             `json:"sessions"`
	Connections HealthConnected `json:"connections"`
}

// HealthFault is something around the service that is wrong now.
type HealthFault struct {
	ID      string `json:"id"`
	Since   string `json:"since"`
	Message string `json:"message"`
	Blocks  bool   `json:"blocks"` // data cannot be taken or queried
}

// HealthRows is what became of rows since the start, and how many come in.
type HealthRows struct {
	Received  int64            `json:"received"`
	Stored    int64            `json:"stored"`
	Rejected  int64            `json:"rejected"`
	Discarded int64            `json:"discarded"`
	Tried     int64            `json:"tried"`
	Dropped   map[string]int64 `json:"dropped"` // by reason
	Rate      float64          `json:"rate"`    // received per second, now
	Series    []HealthRate     `json:"series"`  // of the last quarter of an hour, the oldest first
}

// HealthRate is how many rows came in, and were stored, per second, before a moment.
type HealthRate struct {
	At       string  `json:"timestamp"`
	Received float64 `json:"received"`
	Stored   float64 `json:"stored"`
}

// HealthJournal is what is on its way from the journal into the stores.
type HealthJournal struct {
	Bytes    int64   `json:"bytes"`
	Segments int     `json:"segments"`
	Rows     int     `json:"rows"`    // not yet in the row store
	Records  int     `json:"records"` // not yet in the metadata database
	Oldest   float64 `json:"oldest"`  // seconds that the oldest row has waited for the row store
}

// HealthDisk is the space that is used and left.
type HealthDisk struct {
	Free        int64              `json:"free"`
	Total       int64              `json:"total"`
	Metadata    int64              `json:"metadata"`
	Collections []HealthCollection `json:"collections"`
	Folders     []HealthFolder     `json:"folders"` // that are written to
}

// HealthFolder is the space of the file system that a folder is on.
type HealthFolder struct {
	Name  string `json:"name"` // data, rows, metadata, journal or spool
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
	// Limit is what the process may have, 0 unknown; Budget how it is divided, by part.
	Limit  int64            `json:"limit"`
	Budget map[string]int64 `json:"budget"`
}

// HealthQueries is what is asked.
type HealthQueries struct {
	Running int              `json:"running"`
	Total   map[string]int64 `json:"total"`   // by outcome
	Slowest []SlowQuery      `json:"slowest"` // of the last hour
}

// HealthConnected counts connections.
type HealthConnected struct {
	Open int `json:"open"`
	Idle int `json:"idle"`
}

// system tells how the service fares: of all customers together, so it is for the administrator of the instance alone.
func (s *Server) system(w *answer, r *request) error {
	const whose = 0 // everybody's
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
	h.Queries.Slowest = s.slow.list(whose, s.Now(), s.Tree.CustomerName)
	writeJSON(w, http.StatusOK, h)
	return nil
}

// confirmClock takes an administrator's word that the clock is right.
func (s *Server) confirmClock(w *answer, r *request) error {
	return s.confirm(w, r, "clock")
}

// confirmFault takes an administrator's word that a fault is known.
func (s *Server) confirmFault(w *answer, r *request) error { return s.confirm(w, r, r.PathValue("id")) }

// FaultHeader tells in the answer to a confirmation whether the fault was open.
const FaultHeader = "X-Fault-Was-Open"

func (s *Server) confirm(w *answer, r *request, fault string) error {
	open, err := s.ConfirmFault(fault, r.who)
	if err != nil {
		return err
	}
	w.Header().Set(FaultHeader, strconv.FormatBool(open))
	w.WriteHeader(http.StatusNoContent)
	return nil
}
