package api

import (
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"belfry"
	"belfry/backup"
	"belfry/engine/audit"
)

var backupRoutes = []Route{
	{
		Method: "GET", Path: "/api/backups", Level: belfry.LevelInstance, serve: (*Server).listBackups,
		ID: "backups", Tag: "service", Help: "Reports the backup that is running, the last one, and those that the service makes on its own schedule.",
		Answers: []Answer{answers(200, "The state of backups.", backup.State{})},
		Errors:  []belfry.Code{belfry.StorageUnavailable},
	},
	{
		Method: "GET", Path: "/api/backups/{id}", Level: belfry.LevelInstance, serve: (*Server).showBackup,
		ID: "backup", Tag: "service", Help: "Reports one backup or restore: the one that is running, or one of the last ten.",
		Wildcards: []Param{{Name: "id", Help: "Number of the job, from the answer that started it."}},
		Answers:   []Answer{answers(200, "The job.", backup.Job{})},
		Errors:    []belfry.Code{belfry.UnknownItem, belfry.StorageUnavailable},
	},
	{
		Method: "POST", Path: "/api/backups", Level: belfry.LevelInstance, serve: (*Server).startBackup,
		ID: "startBackup", Tag: "service", Help: "Starts a backup into the configured folder.",
		Detail:  "Another folder can be named only on the machine of the service, by `belfry backup`.",
		Body:    inJSON(newBackup{}),
		Answers: []Answer{answers(202, "The backup has started; GET of `/api/backups/{id}` reports its progress.", backup.Job{})},
		Errors:  []belfry.Code{belfry.Overloaded},
	},
	{
		Method: "DELETE", Path: "/api/backups", Level: belfry.LevelInstance, serve: (*Server).stopBackup,
		ID: "stopBackup", Tag: "service", Help: "Stops the backup or restore that is running.",
		Answers: []Answer{{Status: 204, Help: "Nothing is running any more."}},
	},
	{
		Method: "POST", Path: "/api/backups/days", Level: belfry.LevelInstance, Command: "belfry restore", serve: (*Server).restoreDays,
		ID: "restoreDays", Tag: "service", Help: "Adds the rows of a day, or of a whole collection, that a backup has and the service lacks.",
		Detail:  "Only on the machine of the service, by `belfry restore`. Rows are recognized by customer and id, so a repeat adds nothing.",
		Body:    inJSON(backupDays{}),
		Answers: []Answer{answers(202, "The restore has started; GET of `/api/backups/{id}` reports its progress.", backup.Job{})},
		Errors:  []belfry.Code{belfry.Overloaded, belfry.UnknownCollection, belfry.UnknownItem},
	},
	{
		Method: "GET", Path: "/api/backups/tar", Level: belfry.LevelInstance, Command: "belfry backup -", serve: (*Server).streamBackup,
		ID: "streamBackup", Tag: "service", Help: "Makes a backup and returns it as a tar stream.",
		Detail:  "Only on the machine of the service, by `belfry backup -`. A stream without its last file, `backup.json`, is incomplete. The trailer `X-Backup` has the number of the job, which says what could not be read.",
		Params:  []Param{{Name: "recipients", Help: "Public keys for which the backup is encrypted, separated by commas; empty: not encrypted; without it, as configured."}},
		Answers: []Answer{{Status: 200, Help: "The backup.", Body: []Media{{Type: "application/x-tar"}}}},
		Errors:  []belfry.Code{belfry.Overloaded, belfry.StorageUnavailable},
	},
}

// newBackup is what a backup is started from.
type newBackup struct {
	Target     string    `json:"target,omitempty" help:"Absolute path of a folder; only on the machine of the service. Without it, the configured one."`
	Full       bool      `json:"full,omitempty" help:"Copy files that have not changed since the last backup, too."`
	Recipients *[]string `json:"recipients,omitempty" help:"Public keys for which the backup is encrypted; without it, those that are configured. With target only."`
}

// backupDays says what to restore from a backup into the running service.
type backupDays struct {
	Backup     string `json:"backup" help:"Absolute path of the folder of the backup."`
	Collection string `json:"collection"`
	Day        string `json:"day,omitempty" help:"Only this day, such as 2026-11-15; or month, such as 2026-11, of collections with a file for each month."`
	Identity   string `json:"identity,omitempty" help:"Absolute path of the file with the private key of an encrypted backup."`
}

// keeper returns what makes backups. A stopped service has none.
func (s *Server) keeper() (*backup.Keeper, error) {
	if s.Backups == nil {
		return nil, belfry.Errorf(belfry.StorageUnavailable, "the service is not running; start it with belfry serve")
	}
	return s.Backups, nil
}

func (s *Server) listBackups(w *answer, _ *request) error {
	k, err := s.keeper()
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, k.State())
	return nil
}

func (s *Server) showBackup(w *answer, r *request) error {
	k, err := s.keeper()
	if err != nil {
		return err
	}
	id, err := strconv.Atoi(r.PathValue("id"))
	if j, ok := k.Job(id); err == nil && ok {
		writeJSON(w, http.StatusOK, j)
		return nil
	}
	return belfry.Errorf(belfry.UnknownItem, "no backup or restore has the number %.40q, or more than ten have ended since; GET /api/backups has the last one", r.PathValue("id"))
}

// startBackup starts a backup. Only the local administrator may choose the folder and who can read the backup: anyone else could
// have all data written where they can read it.
func (s *Server) startBackup(w *answer, r *request) error {
	var n newBackup
	if err := s.fields(w, r, &n); err != nil {
		return err
	}
	if err := noRepeat(r); err != nil {
		return err
	}
	if (n.Target != "" || n.Recipients != nil) && !r.local {
		return belfry.Errorf(belfry.InsufficientLevel, "target and recipients can be chosen only on the machine of the service, with belfry backup; without them the backup goes into the configured folder")
	}
	if n.Target != "" && !filepath.IsAbs(n.Target) {
		return belfry.Errorf(belfry.BadParameter, "target must be an absolute path, got %.255q", n.Target)
	}
	k, err := s.keeper()
	if err != nil {
		return err
	}
	wish := backup.Wish{Target: n.Target, Full: n.Full}
	if n.Recipients != nil {
		wish.Recipients = append([]string{}, *n.Recipients...)
	}
	j, err := k.Start(wish)
	if err != nil {
		return err
	}
	s.auditBackup(r, j.Backup, audit.ActionCreated, "backup into "+j.Backup+" started")
	writeJSON(w, http.StatusAccepted, j)
	return nil
}

// auditBackup records who has copied all data, or brought rows back.
func (s *Server) auditBackup(r *request, name, action, info string) {
	if err := s.Engine.Audited(r.sender(), audit.Change{Kind: audit.KindBackup, Name: name, Action: action, Info: info}); err != nil {
		s.Log.Warn("a backup is not in the audit trail", "backup", name, "err", err)
	}
}

func (s *Server) stopBackup(w *answer, r *request) error {
	k, err := s.keeper()
	if err != nil {
		return err
	}
	if j := k.State().Running; k.Stop(r.Context()) && j != nil {
		s.auditBackup(r, j.Backup, audit.ActionStopped, j.Kind+" of "+j.Backup+" stopped")
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) restoreDays(w *answer, r *request) error {
	var d backupDays
	if err := s.fields(w, r, &d); err != nil {
		return err
	}
	if err := noRepeat(r); err != nil {
		return err
	}
	if !filepath.IsAbs(d.Backup) || d.Identity != "" && !filepath.IsAbs(d.Identity) {
		return belfry.Errorf(belfry.BadParameter, "backup and identity must be absolute paths")
	}
	k, err := s.keeper()
	if err != nil {
		return err
	}
	wish := backup.DaysWish{Backup: d.Backup, Collection: d.Collection, Day: d.Day, Identity: d.Identity}
	j, err := k.Restore(wish)
	if err != nil {
		return err
	}
	s.auditBackup(r, d.Backup, audit.ActionRestored, "restore of "+strings.TrimSpace(d.Collection+" "+d.Day)+" started")
	writeJSON(w, http.StatusAccepted, j)
	return nil
}

// streamBackup writes a backup as it is made. An error in the middle ends the connection, so that the client sees that it is cut.
func (s *Server) streamBackup(w *answer, r *request) error {
	k, err := s.keeper()
	if err != nil {
		return err
	}
	var recipients []string // nil: as configured
	if r.params.Has("recipients") {
		recipients = strings.FieldsFunc(r.params.Get("recipients"), func(c rune) bool { return c == ',' || c == ' ' })
	}
	s.auditBackup(r, "-", audit.ActionCreated, "backup as a tar stream started")
	w.idle = 10 * time.Minute // the reader may be a tape, or a machine far away
	w.Header().Set("Content-Type", "application/x-tar")
	j, err := k.Stream(r.Context(), w, recipients)
	if err == nil {
		w.Header().Set(http.TrailerPrefix+backupTrailer, strconv.Itoa(j.ID))
	}
	return err
}
