package main

import (
	"fmt"
)

// receiverTargets are those of receivers and pings. That every message is accounted for is one of each load.
func (r *results) receiverTargets() (list []target) {
	m := r.received
	if m == nil {
		return nil
	}
	add := func(what, want string, hit bool, format string, args ...any) {
		list = append(list, target{what, want, fmt.Sprintf(format, args...), hit})
	}
	whole := func(what string, f *flooded) {
		add(what+": sent = stored + counted drops", "exactly", f.exact(), "%s = %s + %s%s", thousands(float64(f.Rows)), thousands(float64(f.stored)),
			thousands(float64(f.before+f.account.filtered+f.account.lost())), remainder(f))
	}
	udp := "syslog over UDP, " + thousands(floodRate) + "/s"
	whole(udp, m.steady)
	add("… dropped", "< 0.1 %", m.steady.dropped() < mostDrops, "%.3f %%", m.steady.dropped())
	whole("… at twice the capacity", m.twice)
	whole("… as fast as the sender can", m.unpaced)
	add("syslog over TCP, messages/s until stored", "≥ 150,000", m.stream.rate() >= streamTarget, "%s", thousands(m.stream.rate()))
	add("… lost", "none", m.stream.exact() && m.stream.account.lost() == 0, "%s", thousands(float64(m.stream.Rows-m.stream.stored)))
	whole("SNMP traps v2c, "+thousands(trapRate)+"/s", m.traps)
	add("… dropped", "< 0.1 %", m.traps.dropped() < mostDrops, "%.3f %%", m.traps.dropped())
	share := 100 * m.pings.cores()
	add(thousands(float64(m.pings.targets))+" ping targets, server's CPU in all", "< 10 % of a core", share < pingShareLimit, "%.1f %%", share)
	return list
}

// remainder says what nobody has accounted for.
func remainder(f *flooded) string {
	if n := f.missing(); n != 0 {
		return fmt.Sprintf(", %s missing", thousands(float64(n)))
	}
	if f.stored != f.account.kept {
		return fmt.Sprintf(", but the receiver says that it kept %s", thousands(float64(f.account.kept)))
	}
	return ""
}

// missedReceivers are the loads that missed a target, for their profiles.
func (r *results) missedReceivers() (list []missedWay) {
	m := r.received
	if m == nil {
		return nil
	}
	add := func(title string, missed bool, load *measured) {
		if missed {
			list = append(list, missedWay{title, load})
		}
	}
	add("syslog over UDP", !m.steady.exact() || m.steady.dropped() >= mostDrops, &m.steady.measured)
	add("syslog over UDP, as fast as the sender can", !m.unpaced.exact(), &m.unpaced.measured)
	add("syslog over UDP, twice the capacity", !m.twice.exact(), &m.twice.measured)
	add("syslog over TCP", !m.stream.exact() || m.stream.rate() < streamTarget, &m.stream.measured)
	add("SNMP traps", !m.traps.exact() || m.traps.dropped() >= mostDrops, &m.traps.measured)
	add("pings", 100*m.pings.cores() >= pingShareLimit, &measured{cost: m.pings.cost})
	return list
}

// received tells what became of the messages.
func (p *page) received(r *received) {
	if r == nil {
		return
	}
	p.line("## Receivers\n")
	p.line("Syslog messages of %d bytes and traps of a link that goes up and down, from %d sockets with addresses of their own. The system granted", syslogBytes, floodSockets)
	p.line("a receiver %s bytes for packets that wait. The capacity is what was stored a second of the messages over TCP, whose sender", thousands(float64(r.buffer)))
	p.line("waits when the server is busy; over UDP twice that was sent, and then as much as the sender could.\n")
	p.line("| load | sent | sent/s | stored | stored/s | dropped | missing | server CPU s per million stored | sender late, ms | peak MiB | machine's share of others |")
	p.line("|---|---|---|---|---|---|---|---|---|---|---|")
	p.flooded("syslog, UDP", r.steady)
	p.flooded("syslog, TCP", r.stream)
	p.flooded("syslog, UDP, twice the capacity", r.twice)
	p.flooded("syslog, UDP", r.unpaced)
	p.flooded("traps v2c, UDP", r.traps)
	p.line("")
	p.pings(r.pings)
}

func (p *page) flooded(name string, f *flooded) {
	late := "–"
	if f.flood.Rate > 0 {
		late = fmt.Sprintf("%.0f", f.Max)
	}
	p.line("| %s, %s, %g s | %s | %s | %s | %s | %s | %d | %.2f | %s | %.0f | %.0f %% |", name, pacing(f.flood.Rate), f.flood.Seconds, thousands(float64(f.Rows)),
		thousands(float64(f.Rows)/f.seconds()), thousands(float64(f.stored)), thousands(f.rate()), f.drops(), f.missing(),
		f.cpu/(float64(max(f.stored, 1))/1e6), late, f.peak, 100*f.others)
}

// drops names what was lost for which reason.
func (f *flooded) drops() string {
	text := f.account.reasons()
	if f.account.filtered > 0 {
		text += fmt.Sprintf(", filtered %s", thousands(float64(f.account.filtered)))
	}
	if f.before > 0 {
		text += fmt.Sprintf(", before the port %s", thousands(float64(f.before)))
	}
	return text
}

func (p *page) pings(m *pinged) {
	p.line("%s targets on loopback, three requests to each every %.0f s, made in one call that took %.2f s:\n", thousands(float64(m.targets)), m.interval.Seconds(), m.provisions)
	p.line("| looked at for, s | series stored | targets without an answer | server's CPU, share of a core | … while all of them waited | resident now / peak, MiB |")
	p.line("|---|---|---|---|---|---|")
	p.line("| %.0f | %s | %d | %.1f %% | %.1f %% | %.0f / %.0f |\n", m.interval.Seconds(), thousands(float64(m.rows)), m.away, 100*m.cores(), 100*m.idle, m.now, m.peak)
}

const howToReceivers = `
- Messages are sent from memory, many packets with one call, at a rate in steps of a millisecond. A sender that did not get the
  processor makes up for it at once; by how much it was late at worst stands beside it. "Sent" is what the system took.
- A receiver has come to rest when it has booked all that it received and nothing changed for two and a half seconds: it asks
  the system once a second what was dropped for want of room. Only then what is stored is counted, by a query. "Stored a second" is
  until the last message was stored.
- "Before the port" are packets that the system dropped while it had not looked at whom they were for; it counts them for the
  whole machine, and a receiver cannot know of them.
- Of the pings, the minute begins half an interval after the first series: in it every target has one, but for a few at its edges. The other
  share is that of the pause before it, when all collectors wait and the server does what it does anyway.
`
