package app

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"belfry/collect"
	"belfry/intake"
)

// metrics are the service's own counters. None of them carries a name that a customer gave.
type metrics struct {
	registry *prometheus.Registry
}

func (m metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func (s *service) metrics() metrics {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	counter := func(name, help string, labels prometheus.Labels, f func() float64) {
		reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels}, f))
	}
	gauge := func(name, help string, labels prometheus.Labels, f func() float64) {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}, f))
	}
	n := s.intake.Counters()
	counter("belfry_rows_received_total", "Rows that were read from clients.", nil, func() float64 { return float64(n.Received.Load()) })
	counter("belfry_rows_stored_total", "Rows that were stored.", nil, func() float64 { return float64(n.Stored.Load()) })
	counter("belfry_rows_rejected_total", "Rows that were wrong.", nil, func() float64 { return float64(n.Rejected.Load()) })
	counter("belfry_rows_discarded_total", "Rows on items whose management says not to store.", nil, func() float64 { return float64(n.Discarded.Load()) })
	counter("belfry_rows_tried_total", "Rows of dry runs and of atomic bodies that were refused.", nil, func() float64 { return float64(n.Tried.Load()) })
	for i, why := range intake.LostReasons {
		counter("belfry_rows_dropped_total", "Rows that were read and not stored; none was acknowledged.", prometheus.Labels{"why": why},
			func() float64 { return float64(n.Lost[i].Load()) })
	}
	counter("belfry_rows_skipped_total", "Acknowledged rows that the row store left out, as their period had been dropped before they got there.", nil, func() float64 { return float64(s.rows.Stats().Skipped) })
	counter("belfry_rows_expired_total", "Rows that retention has removed.", nil, func() float64 { return float64(s.rows.Stats().Expired) })
	gauge("belfry_clock_in_doubt", "1 while the clock is so far from the time expected that nothing is deleted.", nil, func() float64 {
		if s.guard.isSuspect() {
			return 1
		}
		return 0
	})
	counter("belfry_messages_received_total", "Messages that were sent to receivers.", nil, func() float64 { return float64(s.env.Totals.Received.Load()) })
	counter("belfry_messages_kept_total", "Messages that receivers stored.", nil, func() float64 { return float64(s.env.Totals.Kept.Load()) })
	counter("belfry_messages_filtered_total", "Messages that a filter or script of their receiver did not want.", nil, func() float64 { return float64(s.env.Totals.Filtered.Load()) })
	counter("belfry_messages_unscripted_total", "Messages stored as they came, because the script of their receiver failed.", nil, func() float64 { return float64(s.env.Totals.Failed.Load()) })
	counter("belfry_messages_cut_total", "Messages that were longer than 64 KiB, of which the end is lost.", nil, func() float64 { return float64(s.env.Totals.Cut.Load()) })
	counter("belfry_receiver_connections_reset_total", "Connections to receivers that broke: their senders reset them, or sent what is not TLS. What was on its way is lost.", nil, func() float64 { return float64(s.env.Totals.Reset.Load()) })
	for why := range collect.DropReasons {
		counter("belfry_messages_dropped_total", "Messages that were sent to receivers and are lost.", prometheus.Labels{"why": why.String()},
			func() float64 { return float64(s.env.Totals.Dropped[why].Load()) })
	}
	gauge("belfry_receiver_buffer_bytes", "Room for packets that wait, of the UDP receiver to which the system grants least.", nil, func() float64 { return float64(s.env.ReceiveBuffer()) })
	gauge("belfry_collectors_running", "Resources whose collector is to run.", nil, func() float64 { return float64(s.collect.Running()) })
	counter("belfry_files_refused_total", "Files of classes and packages that were wrong and not imported.", nil, func() float64 { return float64(s.refused.Load()) })
	gauge("belfry_ready", "1 when data can be taken and queried.", nil, func() float64 {
		if s.ready() != nil {
			return 0
		}
		return 1
	})
	gauge("belfry_disk_free_bytes", "Free space on the disk of the data folder.", nil, func() float64 { free, _ := s.disk.spaceOf(folderData); return float64(free) })
	for _, f := range s.disk.folders {
		labels := prometheus.Labels{"folder": f.name}
		gauge("belfry_folder_free_bytes", "Free space on the file system of a folder that is written to.", labels, func() float64 { free, _ := s.disk.spaceOf(f.name); return float64(free) })
		gauge("belfry_folder_total_bytes", "Size of that file system.", labels, func() float64 { _, total := s.disk.spaceOf(f.name); return float64(total) })
	}
	gauge("belfry_faults", "Faults around the service that are open.", nil, func() float64 { return float64(len(s.faults.list())) })
	gauge("belfry_journal_bytes", "Space that the journal takes.", nil, func() float64 { b, _ := s.Journal.Size(); return float64(b) })
	gauge("belfry_backlog_rows", "Rows that are in the journal and not yet in the row store.", nil, func() float64 { r, _ := s.store.Backlog(); return float64(r) })
	if sums := s.rows.summaries; sums != nil {
		gauge("belfry_summaries_behind_hours", "Hours that are over and whose summaries do not yet have all rows; queries make them on their own.", nil, func() float64 { return float64(sums.SummariesBehind()) })
		gauge("belfry_summaries_complete_timestamp_seconds", "When all summaries were last found up to date; 0 not since the start.", nil, func() float64 { return float64(s.summarised.Load()) })
	}
	gauge("belfry_backlog_records", "Records that are in the journal and not yet in the metadata database.", nil, func() float64 { return float64(s.meta.Pending()) })
	gauge("belfry_statements_running", "Statements of queries that the row store works on.", nil, func() float64 { return float64(s.rows.Stats().Running) })
	gauge("belfry_memory_limit_bytes", "Memory that the process may have: the smallest limit of its control groups, of its address space and of the machine; 0 unknown.", nil, func() float64 { return float64(s.budget.limit.bytes) })
	for part := range s.budget.parts(s.cfg.Load()) {
		gauge("belfry_memory_budget_bytes", "Memory that a part of the service may have.", prometheus.Labels{"part": part}, func() float64 { return float64(s.budget.parts(s.cfg.Load())[part]) })
	}
	gauge("belfry_items_bytes", "Memory that items and the last values of their indicators take, as they are counted; limits.memory_items is the most.", nil, func() float64 { return float64(s.Tree.ItemMemory()) })
	gauge("belfry_texts_bytes", "Memory that texts of what customers have set up take; limits.texts is the most.", nil, func() float64 { return float64(s.Tree.TextMemory()) })
	gauge("belfry_memory_refusing", "1 while requests are refused because hardly any memory is left.", nil, func() float64 {
		if s.pressure.check() != nil {
			return 1
		}
		return 0
	})
	for i, state := range []string{"open", "idle"} {
		gauge("belfry_connections", "Connections to the API; the idle ones are among the open ones.", prometheus.Labels{"state": state}, func() float64 {
			n := s.listeners.Counts()
			return float64([]int{n.Open, n.Idle}[i])
		})
	}
	counter("belfry_connections_evicted_total", "Connections, most of them idle, that were closed because others waited.", nil, func() float64 { return float64(s.listeners.Counts().Evicted) })
	counter("belfry_connections_refused_total", "Connections that were closed because too many waited.", nil, func() float64 { return float64(s.listeners.Counts().Refused) })
	counter("belfry_http2_requests_refused_total", "Requests of HTTP/2 that were refused because too many were in progress.", nil, func() float64 { return float64(s.listeners.Counts().RequestsRefused) })
	for i, kind := range []string{"object", "resource", "view"} {
		gauge("belfry_items", "Items that exist.", prometheus.Labels{"kind": kind}, func() float64 {
			objects, resources, views := s.Tree.Size()
			return float64([]int{objects, resources, views}[i])
		})
	}
	return metrics{reg}
}
