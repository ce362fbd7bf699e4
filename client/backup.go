package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// BackupJob is a backup or a restore of a running service.
type BackupJob struct {
	ID       int      `json:"id"`
	Backup   string   `json:"backup"`
	Ended    string   `json:"ended"` // empty while it runs
	Waits    string   `json:"waits"` // until when; empty: it does not wait
	Files    int      `json:"files"`
	Bytes    int64    `json:"bytes"`
	Linked   int64    `json:"linked"`
	Total    int64    `json:"total"`
	Rows     int      `json:"rows"`
	Missing  []string `json:"missing"`
	Lost     []string `json:"lost"`
	Damaged  []string `json:"damaged"`
	Passed   []string `json:"passed"`
	Position string   `json:"position"`
	Error    string   `json:"error"`
}

// NewBackup says how to make a backup. Target is an absolute path. Without Recipients the service uses those of its configuration.
type NewBackup struct {
	Target     string    `json:"target,omitempty"`
	Full       bool      `json:"full,omitempty"`
	Recipients *[]string `json:"recipients,omitempty"`
}

// BackupDays says which rows of a backup to add to a running service. The paths are absolute.
type BackupDays struct {
	Backup     string `json:"backup"`
	Collection string `json:"collection"`
	Day        string `json:"day,omitempty"`
	Identity   string `json:"identity,omitempty"`
}

const (
	backupsPath = "/api/backups"
	// jobEvery is how often the state of a job is read.
	jobEvery = 300 * time.Millisecond
)

// ErrBroken means that the connection broke while a job ran. The service may have ended.
var ErrBroken = errors.New("the connection to the service broke, as it does when the service ends")

// broken adds ErrBroken to an error that is not an answer of the service.
func broken(err error) error {
	if _, answered := errors.AsType[*Failure](err); answered || err == nil {
		return err
	}
	return fmt.Errorf("%w: %w", ErrBroken, err)
}

// Backup makes a backup and waits until it has ended. It calls each with its progress. When ctx ends, the backup is stopped.
func (c *Client) Backup(ctx context.Context, b NewBackup, each func(BackupJob)) (BackupJob, error) {
	return c.job(ctx, backupsPath, b, each)
}

// RestoreDays adds rows of a backup to a running service, like Backup.
func (c *Client) RestoreDays(ctx context.Context, d BackupDays, each func(BackupJob)) (BackupJob, error) {
	return c.job(ctx, backupsPath+"/days", d, each)
}

// job starts a job and follows it to its end. If ctx ends before, the job is stopped.
func (c *Client) job(ctx context.Context, path string, in any, each func(BackupJob)) (j BackupJob, err error) {
	whole := context.WithoutCancel(ctx) // so that it is always known whether there is a job to stop
	if _, err := c.call(whole, http.MethodPost, path, "", in, &j); err != nil {
		return j, broken(err)
	}
	tick := time.NewTicker(jobEvery)
	defer tick.Stop()
	for j.Ended == "" {
		select {
		case <-ctx.Done():
			return j, errors.Join(context.Cause(ctx), c.StopBackup(whole))
		case <-tick.C:
		}
		if _, err := c.call(whole, http.MethodGet, fmt.Sprintf("%s/%d", backupsPath, j.ID), "", nil, &j); err != nil {
			return j, fmt.Errorf("%w: %v", ErrBroken, err) // a service that has started since answers that there is no such job
		}
		each(j)
	}
	return j, nil
}

// StopBackup stops the backup or restore that is running.
func (c *Client) StopBackup(ctx context.Context) error {
	_, err := c.call(ctx, http.MethodDelete, backupsPath, "", nil, nil)
	return err
}

// BackupTar makes a backup, writes it to w as a tar stream, and returns its job. Without recipients the service uses those of its
// configuration.
func (c *Client) BackupTar(ctx context.Context, recipients *[]string, w io.Writer) (j BackupJob, err error) {
	defer func() {
		if ctx.Err() != nil {
			err = fmt.Errorf("the backup was stopped: %w", context.Cause(ctx))
		}
	}()
	q := url.Values{}
	if recipients != nil {
		q.Set("recipients", strings.Join(*recipients, ","))
	}
	unhurried := *c
	unhurried.http = &http.Client{Transport: c.http.Transport, CheckRedirect: stay} // it takes as long as it takes
	res, err := unhurried.open(ctx, request{method: http.MethodGet, path: backupsPath + "/tar", query: q, stream: true})
	if err != nil {
		return j, broken(err)
	}
	if res.StatusCode != http.StatusOK {
		return j, failure(res)
	}
	defer res.Body.Close()
	if _, err := io.Copy(w, res.Body); err != nil {
		return j, fmt.Errorf("the backup is incomplete: %w; the log of the service says why if it failed there", err)
	}
	_, err = c.call(ctx, http.MethodGet, backupsPath+"/"+res.Trailer.Get("X-Backup"), "", nil, &j)
	return j, broken(err)
}
