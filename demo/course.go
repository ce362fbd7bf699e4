package demo

import (
	"math"
	"strconv"
	"time"
)

// course computes the values of an object at a time.
type course struct {
	seed   uint64
	object *object
	at     time.Time // in the zone of the company
	busy   float64   // of the people, see rhythm
	stress float64   // 0 when all is well, 1 in the middle of an incident
}

// courses compute the values of i1, i2, … by class.
var courses = map[string]func(c *course) []any{
	"cpu": func(c *course) []any {
		used := 8 + 45*c.busy*c.object.size + 5*c.drift(1) + 4*c.noise(1) + 60*c.stress
		return []any{limit(used, 1, 100), limit(used/22+0.4*c.noise(2), 0.05, 60)}
	},
	"memory": func(c *course) []any {
		used := 45 + 20*c.object.size + 12*c.busy + 3*c.drift(1) + 35*c.stress
		return []any{limit(used, 5, 99.5), limit(40*c.object.size+900*c.stress, 0, 4096)}
	},
	"disk": func(c *course) []any {
		return []any{limit(c.fill()+20*c.stress, 1, 99.6), limit(3+9*c.busy+3*c.noise(2)+90*c.stress, 0.2, 500)}
	},
	"web-server": func(c *course) []any {
		requests := 160*c.busy*c.object.size + 15*c.drift(1) + 12*c.noise(1)
		return []any{limit(requests, 0.5, 2000), limit(70+60*c.busy+20*c.noise(2)+2400*c.stress, 10, 9000), limit(0.2+0.2*c.noise(3)+16*c.stress, 0, 100)}
	},
	"database": func(c *course) []any {
		return []any{
			math.Round(limit(25+70*c.busy*c.object.size+6*c.noise(1)+115*c.stress, 1, 200)), limit(40+700*c.busy*c.object.size+40*c.noise(2), 1, 5000),
			limit(6+14*c.busy+4*c.noise(3)+800*c.stress, 0.5, 5000), limit(0.4+0.4*c.noise(4)+150*c.stress, 0, 900),
		}
	},
	"switch-port": func(c *course) []any {
		in := 380*c.busy*c.object.size + 40*c.drift(1) + 30*c.noise(1)
		return []any{limit(in+500*c.stress, 0.2, 1000), limit(in*0.4+20*c.noise(2), 0.1, 1000), limit(60*c.stress, 0, 500)}
	},
	"printer":       printer,
	"message-queue": queue,
	"payment": func(c *course) []any {
		return []any{
			math.Round(limit(220*c.busy*c.object.size+20*c.noise(1)-60*c.stress, 0, 900)), limit(0.8+0.6*c.noise(2)+28*c.stress, 0, 100),
			limit(330+150*c.busy+60*c.noise(3)+5200*c.stress, 80, 15000),
		}
	},
	"temperature": func(c *course) []any {
		return []any{limit(21+2.2*c.busy+0.8*c.drift(1)+0.2*c.noise(1)+14*c.stress, 12, 48), limit(42+6*c.drift(2)+c.noise(2), 15, 95)}
	},
	"ups":       ups,
	"web-check": webCheck,
	"certificate": func(c *course) []any {
		left := []float64{82, 12, 47, 5, 210}[c.object.index%5] // the same every day
		return []any{left}
	},
	"backup-job": backup,
	"tunnel": func(c *course) []any {
		return []any{limit(9+5*c.object.size+3*c.busy+1.5*c.noise(1)+110*c.stress, 1, 900), limit(30*c.stress, 0, 100), limit(120*c.busy*c.object.size+10*c.drift(3), 0.1, 1000)}
	},
}

func (c *course) noise(n uint64) float64 {
	return noise(c.at, c.seed, uint64(c.object.index), n)
}

func (c *course) drift(n uint64) float64 {
	return drift(c.at, 40*time.Minute, c.seed, uint64(c.object.index), n)
}

// fill returns how full a disk is. Most keep their level; one in fourteen fills up over some days and is then cleaned.
func (c *course) fill() float64 {
	base := 25 + 45*fraction(mix(c.seed, uint64(c.object.index), 11))
	if mix(c.seed, uint64(c.object.index), 12)%14 != 0 {
		return base + 2*drift(c.at, 12*time.Hour, c.seed, uint64(c.object.index), 5)
	}
	const turn = 60 * time.Hour
	late := mix(c.seed, uint64(c.object.index), 13) % uint64(turn.Seconds())
	at := (uint64(c.at.Unix()) + late) % uint64(turn.Seconds())
	return 55 + 42*float64(at)/turn.Seconds()
}

func printer(c *course) []any {
	state := "ready"
	if c.stress > 0.5 {
		state = "paper jam"
	}
	const turn = 9 * 24 * 3600
	at := (uint64(c.at.Unix()) + mix(c.seed, uint64(c.object.index), 14)) % turn
	return []any{math.Round(100 - 94*float64(at)/turn), math.Round(limit(40*c.busy+8*c.noise(2), 0, 200)), state}
}

func queue(c *course) []any {
	waiting := 30 + 160*c.busy*c.object.size + 30*c.noise(1) + 14000*c.stress*c.stress
	if c.object.name == "dead letters" {
		waiting = 3 + 2*c.drift(1)
	}
	return []any{math.Round(limit(waiting, 0, 50000)), limit(90*c.busy*c.object.size+8*c.noise(2), 0, 900), limit(waiting/60, 0, 3600)}
}

func ups(c *course) []any {
	supply := "mains"
	if c.stress > 0.3 {
		supply = "battery"
	}
	return []any{limit(100-75*c.stress, 5, 100), limit(38+14*c.busy*c.object.size+2*c.noise(2), 5, 99), supply}
}

func webCheck(c *course) []any {
	answer := "200 OK"
	if c.stress > 0.8 {
		answer = "503 Service Unavailable"
	}
	return []any{limit(180+120*c.busy+40*c.noise(1)+3600*c.stress, 30, 15000), answer}
}

// backup runs every night at two. One of the jobs always failed last time.
func backup(c *course) []any {
	age := math.Mod(float64(c.at.Hour())+float64(c.at.Minute())/60+22, 24)
	result := "done"
	if c.object.name == "Backup mail" {
		result = "failed"
	}
	return []any{limit(age, 0, 48), math.Round(120 * c.object.size), result}
}

func limit(v, low, high float64) float64 {
	return math.Round(min(max(v, low), high)*100) / 100
}

// cells formats values for CSV.
func cells(values []any) []string {
	list := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case float64:
			list[i] = strconv.FormatFloat(v, 'f', -1, 64)
		case string:
			list[i] = v
		}
	}
	return list
}
