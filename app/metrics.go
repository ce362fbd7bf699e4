package app

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"belfry/backup"
	"belfry/collect"
	"belfry/intake"
)

// metrics are the service's metrics. No name or label comes from a customer.
type metrics struct {
	registry *prometheus.Registry
}

func (m metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func (s *service) metrics() metrics {
	m := metrics{prometheus.NewRegistry()}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	s.generalMetrics(m)
	s.rowMetrics(m)
	s.receiverMetrics(m)
	s.storeMetrics(m)
	s.memoryMetrics(m)
	s.connectionMetrics(m)
	s.backupMetrics(m)
	return m
}

func (m metrics) counter(name, help string, labels prometheus.Labels, f func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels}, f))
}

func (m metrics) gauge(name, help string, labels prometheus.Labels, f func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}, f))
}

func (s *service) generalMetrics(m metrics) {
	m.gauge("belfry_ready", "1 when data can be sent and queried.", nil, func() float64 {
		if s.ready() != nil {
			return 0
		}
		return 1
	})
	m.gauge("belfry_clock_in_doubt", "1 while the clock is too far from the expected time, so that nothing is deleted.", nil, func() float64 {
		if s.guard.isSuspect() {
			return 1
		}
		return 0
	})
	m.gauge("belfry_faults", "Open faults.", nil, func() float64 { return float64(len(s.faults.list())) })
	m.counter("belfry_files_refused_total", "Files of classes and packages not imported because of errors.", nil, func() float64 { return float64(s.refused.Load()) })
	m.gauge("belfry_disk_free_bytes", "Free space on the disk of the data folder.", nil, func() float64 { free, _ := s.disk.spaceOf(folderData); return float64(free) })
	for _, f := range s.disk.folders {
		labels := prometheus.Labels{"folder": f.name}
		m.gauge("belfry_folder_free_bytes", "Free space on the file system of a folder that the service writes to.", labels, func() float64 { free, _ := s.disk.spaceOf(f.name); return float64(free) })
		m.gauge("belfry_folder_total_bytes", "Size of the file system of a folder that the service writes to.", labels, func() float64 { _, total := s.disk.spaceOf(f.name); return float64(total) })
	}
	for i, kind := range []string{"object", "resource", "view"} {
		m.gauge("belfry_items", "Items that exist.", prometheus.Labels{"kind": kind}, func() float64 {
			objects, resources, views := s.Tree.Size()
			return float64([]int{objects, resources, views}[i])
		})
	}
}

func (s *service) rowMetrics(m metrics) {
	n := s.intake.Counters()
	m.counter("belfry_rows_received_total", "Rows read from clients.", nil, func() float64 { return float64(n.Received.Load()) })
	m.counter("belfry_rows_stored_total", "Rows stored.", nil, func() float64 { return float64(n.Stored.Load()) })
	m.counter("belfry_rows_rejected_total", "Rows rejected as invalid.", nil, func() float64 { return float64(n.Rejected.Load()) })
	m.counter("belfry_rows_discarded_total", "Rows discarded because their item is unmanaged without storage.", nil, func() float64 { return float64(n.Discarded.Load()) })
	m.counter("belfry_rows_tried_total", "Rows of dry runs and of refused atomic requests, which are not stored.", nil, func() float64 { return float64(n.Tried.Load()) })
	for i, why := range intake.LostReasons {
		m.counter("belfry_rows_dropped_total", "Rows read but not stored; none was acknowledged.", prometheus.Labels{"why": why},
			func() float64 { return float64(n.Lost[i].Load()) })
	}
	m.counter("belfry_rows_skipped_total", "Acknowledged rows not stored because retention had already dropped their period.", nil, func() float64 { return float64(s.rows.Stats().Skipped) })
	m.counter("belfry_rows_expired_total", "Rows removed by retention.", nil, func() float64 { return float64(s.rows.Stats().Expired) })
}

func (s *service) receiverMetrics(m metrics) {
	m.counter("belfry_messages_received_total", "Messages sent to receivers.", nil, func() float64 { return float64(s.env.Totals.Received.Load()) })
	m.counter("belfry_messages_kept_total", "Messages stored by receivers.", nil, func() float64 { return float64(s.env.Totals.Kept.Load()) })
	m.counter("belfry_messages_filtered_total", "Messages discarded by a filter or script of their receiver.", nil, func() float64 { return float64(s.env.Totals.Filtered.Load()) })
	m.counter("belfry_messages_unscripted_total", "Messages stored unchanged because the script of their receiver failed, or because they could not be parsed for an internal error.", nil, func() float64 { return float64(s.env.Totals.Failed.Load()) })
	m.counter("belfry_messages_cut_total", "Messages longer than 64 KiB, truncated.", nil, func() float64 { return float64(s.env.Totals.Cut.Load()) })
	m.counter("belfry_receiver_connections_reset_total", "Receiver connections that were reset by the sender or failed in TLS; messages in transit are lost.", nil, func() float64 { return float64(s.env.Totals.Reset.Load()) })
	for why := range collect.DropReasons {
		m.counter("belfry_messages_dropped_total", "Messages sent to receivers and lost.", prometheus.Labels{"why": why.String()},
			func() float64 { return float64(s.env.Totals.Dropped[why].Load()) })
	}
	m.gauge("belfry_receiver_buffer_bytes", "Smallest socket receive buffer of the UDP receivers.", nil, func() float64 { return float64(s.env.ReceiveBuffer()) })
	m.gauge("belfry_collectors_running", "Resources with a running collector.", nil, func() float64 { return float64(s.collect.Running()) })
}

// storeMetrics are those of the journal, the row store and the metadata database.
func (s *service) storeMetrics(m metrics) {
	m.gauge("belfry_journal_bytes", "Size of the journal.", nil, func() float64 { b, _ := s.Journal.Size(); return float64(b) })
	m.gauge("belfry_backlog_rows", "Rows in the journal that are not yet in the row store.", nil, func() float64 { r, _ := s.store.Backlog(); return float64(r) })
	if sums := s.rows.summaries; sums != nil {
		m.gauge("belfry_summaries_behind_hours", "Past hours whose summaries are not up to date; queries compute these from the rows.", nil, func() float64 { return float64(sums.SummariesBehind()) })
		m.gauge("belfry_summaries_complete_timestamp_seconds", "When all summaries were last up to date; 0: not since the start.", nil, func() float64 { return float64(s.summarised.Load()) })
	}
	m.gauge("belfry_backlog_records", "Records in the journal that are not yet in the metadata database.", nil, func() float64 { return float64(s.meta.Pending()) })
	m.gauge("belfry_statements_running", "Query statements running in the row store.", nil, func() float64 { return float64(s.rows.Stats().Running) })
}

func (s *service) memoryMetrics(m metrics) {
	m.gauge("belfry_memory_limit_bytes", "Memory that the process may use: the smallest of the limits of its control groups, its address space and the machine; 0: unknown.", nil, func() float64 { return float64(s.budget.limit.bytes) })
	for part := range s.budget.parts(s.cfg.Load()) {
		m.gauge("belfry_memory_budget_bytes", "Memory that a part of the service may use.", prometheus.Labels{"part": part}, func() float64 { return float64(s.budget.parts(s.cfg.Load())[part]) })
	}
	m.gauge("belfry_items_bytes", "Estimated memory of items and the last values of their indicators; limits.memory_items is the limit.", nil, func() float64 { return float64(s.Tree.ItemMemory()) })
	m.gauge("belfry_texts_bytes", "Memory of user-defined texts; limits.texts is the limit.", nil, func() float64 { return float64(s.Tree.TextMemory()) })
	m.gauge("belfry_memory_refusing", "1 while requests are refused because memory is low.", nil, func() float64 {
		if s.pressure.check() != nil {
			return 1
		}
		return 0
	})
}

func (s *service) connectionMetrics(m metrics) {
	for i, state := range []string{"open", "idle"} {
		m.gauge("belfry_connections", "Connections to the API; open includes idle.", prometheus.Labels{"state": state}, func() float64 {
			n := s.listeners.Counts()
			return float64([]int{n.Open, n.Idle}[i])
		})
	}
	m.counter("belfry_connections_evicted_total", "Connections, most of them idle, closed to make room for waiting ones.", nil, func() float64 { return float64(s.listeners.Counts().Evicted) })
	m.counter("belfry_connections_refused_total", "Connections closed because too many were waiting.", nil, func() float64 { return float64(s.listeners.Counts().Refused) })
	m.counter("belfry_http2_requests_refused_total", "HTTP/2 requests refused because too many were in progress.", nil, func() float64 { return float64(s.listeners.Counts().RequestsRefused) })
}

// backupMetrics adds the metrics of backups.
func (s *service) backupMetrics(m metrics) {
	totals := func(f func(backup.Totals) int64) func() float64 {
		return func() float64 {
			if s.backups == nil {
				return 0
			}
			return float64(f(s.backups.Totals()))
		}
	}
	m.counter("belfry_backups_total", "Backups made.", prometheus.Labels{"result": "ok"}, totals(func(t backup.Totals) int64 { return t.Made }))
	m.counter("belfry_backups_total", "Backups made.", prometheus.Labels{"result": "failed"}, totals(func(t backup.Totals) int64 { return t.Failed }))
	m.counter("belfry_backup_bytes_total", "Bytes of backups: copied, or linked to the same file of an earlier backup.", prometheus.Labels{"how": "copied"}, totals(func(t backup.Totals) int64 { return t.Copied }))
	m.counter("belfry_backup_bytes_total", "Bytes of backups: copied, or linked to the same file of an earlier backup.", prometheus.Labels{"how": "linked"}, totals(func(t backup.Totals) int64 { return t.Linked }))
	m.gauge("belfry_backup_running", "1 while a backup or a restore of days runs.", nil, func() float64 {
		if s.backups == nil || s.backups.State().Running == nil {
			return 0
		}
		return 1
	})
	m.gauge("belfry_backup_newest_timestamp_seconds", "When the newest complete backup in backup.target began; 0: there is none.", nil, func() float64 {
		if s.backups == nil || s.backups.Newest().IsZero() {
			return 0
		}
		return float64(s.backups.Newest().Unix())
	})
}
