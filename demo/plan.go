package demo

import (
	"embed"
	"fmt"
	"strconv"
)

var (
	//go:embed class/*.yaml
	classFiles embed.FS
	//go:embed picture/*.svg
	pictureFiles embed.FS
)

func classTexts() (texts [][]byte, err error) {
	files, err := classFiles.ReadDir("class")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := classFiles.ReadFile("class/" + f.Name())
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// plan is the inventory.
type plan struct {
	views     []view
	resources []resource
	objects   []*object
	elements  []*body
	byClass   map[string][]*object
}

type view struct {
	name, parent, class, arrange, bg string
	x, y, size                       int // from the left and from the top
}

type resource struct {
	name, view string
	x, y       int
}

// object is a monitored object.
type object struct {
	index          int
	resource, name string
	class          string
	site           string // empty for services that belong to no site
	ip             string
	size           float64 // load factor, around 1
}

// site is a place on the map.
type site struct {
	name, short string
	x, y        int
	centre      bool // has servers for all
}

var sites = []site{
	{"Northport", "nor", 420, 100, false},
	{"Hillcrest", "hil", 210, 200, false},
	{"Capital City", "cap", 400, 290, true},
	{"Eastvale", "eas", 620, 250, false},
	{"Lakeside", "lak", 290, 430, true},
	{"Southgate", "sou", 520, 480, false},
}

func newPlan() *plan {
	p := &plan{byClass: map[string][]*object{}}
	p.views = append(p.views,
		view{name: Company, parent: "MAIN", class: mark, bg: country, x: 60, y: 60, size: 60},
		view{name: "Services", parent: "MAIN", class: "services", arrange: "linear", x: 260, y: 60, size: 60},
	)
	for i, s := range sites {
		p.site(i, s)
	}
	p.services()
	p.decorate()
	return p
}

// site adds a room with racks and their content. The racks have fixed positions, the rest is laid out automatically.
func (p *plan) site(i int, s site) {
	p.views = append(p.views, view{name: s.name, parent: Company, class: "site", x: s.x, y: s.y, size: 40})
	rack1, rack2, office := s.name+" rack 1", s.name+" rack 2", s.name+" office"
	p.views = append(p.views,
		view{name: rack1, parent: s.name, class: "rack", arrange: "linear", x: 60, y: 60, size: 50},
		view{name: rack2, parent: s.name, class: "rack", arrange: "linear", x: 180, y: 60, size: 50},
		view{name: office, parent: s.name, class: "office", x: 300, y: 60, size: 50},
	)
	for n, rack := range []string{rack1, rack2} {
		sw := p.resource(fmt.Sprintf("%s-sw%d", s.short, n+1), rack, 0, 0)
		for port := 1; port <= 4; port++ {
			p.object(sw, fmt.Sprintf("%s port %d", sw, port), "switch-port", s, 10+n)
		}
		p.object(sw, sw+" cpu", "cpu", s, 10+n)
	}
	for n := 1; n <= 4; n++ {
		p.server(s, fmt.Sprintf("%s-srv%d", s.short, n), rack1, 20+n)
	}
	room := p.resource(s.short+"-room", office, 60, 60)
	p.object(room, s.name+" room", "temperature", s, 0)
	p.object(room, s.name+" ups", "ups", s, 30)
	prn := p.resource(s.short+"-prn1", office, 160, 60)
	p.object(prn, prn, "printer", s, 40)
	wan := p.resource(s.short+"-wan", s.name, 420, 60)
	for _, other := range []site{sites[(i+1)%len(sites)], sites[(i+2)%len(sites)]} {
		p.object(wan, s.name+" to "+other.name, "tunnel", s, 1)
	}
	if s.centre {
		p.centre(s, rack2)
	}
}

func (p *plan) server(s site, name, rack string, host int) {
	p.resource(name, rack, 0, 0)
	p.object(name, name+" cpu", "cpu", s, host)
	p.object(name, name+" memory", "memory", s, host)
	p.object(name, name+" disk /", "disk", s, host)
	p.object(name, name+" disk /var", "disk", s, host)
}

// centre adds the servers behind the services.
func (p *plan) centre(s site, rack string) {
	for n := 1; n <= 6; n++ {
		name := fmt.Sprintf("%s-web%02d", s.short, n)
		p.server(s, name, rack, 50+n)
		p.object(name, name+" http", "web-server", s, 50+n)
	}
	for n := 1; n <= 3; n++ {
		name := fmt.Sprintf("%s-db%02d", s.short, n)
		p.server(s, name, rack, 60+n)
		p.object(name, name+" postgres", "database", s, 60+n)
	}
}

func (p *plan) services() {
	for _, s := range []struct {
		resource, class string
		objects         []string
	}{
		{"Web shop", "web-check", []string{"Start page", "Search", "Basket", "Checkout", "My account"}},
		{"Payment", "payment", []string{"Cards", "Bank transfer", "Vouchers", "Instalments", "Refunds"}},
		{"Message queue", "message-queue", []string{"orders", "invoices", "shipping", "newsletter", "returns", "dead letters"}},
		{"Certificates", "certificate", []string{"shop.example", "pay.example", "api.example", "mail.example", "vpn.example"}},
		{"Backup", "backup-job", []string{"Backup databases", "Backup file servers", "Backup mail", "Backup configuration"}},
	} {
		p.resource(s.resource, "Services", 0, 0)
		for _, name := range s.objects {
			p.object(s.resource, name, s.class, site{}, 0)
		}
	}
}

func (p *plan) resource(name, view string, x, y int) string {
	p.resources = append(p.resources, resource{name, view, x, y})
	return name
}

func (p *plan) object(resource, name, class string, s site, host int) {
	o := &object{index: len(p.objects), resource: resource, name: name, class: class, site: s.name}
	if host > 0 {
		o.ip = "192.0.2." + strconv.Itoa(host) // reserved for documentation
	}
	o.size = 0.7 + 0.6*fraction(mix(uint64(o.index), 7))
	p.objects = append(p.objects, o)
	p.byClass[class] = append(p.byClass[class], o)
}
