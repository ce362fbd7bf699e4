package snmp

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gosnmp/gosnmp"

	"belfry/collect/mib"
)

// Variables that say something about the trap as a whole.
const (
	oidUpTime        = "1.3.6.1.2.1.1.3.0"
	oidTrapOID       = "1.3.6.1.6.3.1.1.4.1.0"
	oidTrapAddress   = "1.3.6.1.6.3.18.1.3.0"
	oidTrapCommunity = "1.3.6.1.6.3.18.1.4.0" // a secret that a proxy passes on
)

const maxText = 64 << 10 // bytes of a text

// newTrap converts a packet; false if it is no trap.
func newTrap(p *gosnmp.SnmpPacket, version string, n *mib.Names) (m Trap, ok bool) {
	m = Trap{Version: version, Generic: -1, Specific: -1, Severity: -1}
	switch {
	case p.PDUType == gosnmp.Trap && version == "1":
		m.Generic, m.Specific = p.GenericTrap, p.SpecificTrap
		if m.OID, ok = v1OID(p); !ok {
			return m, false
		}
		m.IP = deviceIP(p.AgentAddress)
	case (p.PDUType == gosnmp.SNMPv2Trap || p.PDUType == gosnmp.InformRequest) && version != "1":
	default:
		return m, false
	}
	variables := make([]gosnmp.SnmpPDU, 0, len(p.Variables))
	for _, v := range p.Variables {
		v.Name = oidText(v.Name)
		switch v.Name {
		case oidTrapOID:
			if text, is := v.Value.(string); is && m.OID == "" {
				m.OID = strings.TrimPrefix(text, ".")
			}
		case oidTrapAddress:
			if text, is := v.Value.(string); is && m.IP == "" {
				m.IP = deviceIP(text)
			}
			variables = append(variables, v)
		case oidUpTime, oidTrapCommunity:
		default:
			variables = append(variables, v)
		}
	}
	if m.OID == "" {
		return m, false
	}
	m.Name = n.Trap(m.OID)
	m.describe(variables, n)
	return m, true
}

// oidText returns an object identifier without the leading dot of the library. Anything else that a sender puts there is shown
// in hexadecimal.
func oidText(text string) string {
	text = strings.TrimPrefix(text, ".")
	if strings.Trim(text, "0123456789.") == "" {
		return text
	}
	return fmt.Sprintf("0x%.100x", text)
}

// v1OID returns the object identifier that a trap of version 1 has in the other versions (RFC 3584, 3.1).
func v1OID(p *gosnmp.SnmpPacket) (oid string, ok bool) {
	enterprise := oidText(p.Enterprise)
	switch {
	case p.GenericTrap >= 0 && p.GenericTrap < 6:
		return "1.3.6.1.6.3.1.1.5." + strconv.Itoa(p.GenericTrap+1), true
	case p.GenericTrap == 6 && p.SpecificTrap >= 0 && enterprise != "":
		return enterprise + ".0." + strconv.Itoa(p.SpecificTrap), true
	}
	return "", false
}

// deviceIP returns the agent address of a trap, which differs from the sender's behind a proxy; empty if it is not usable.
func deviceIP(text string) string {
	a, err := netip.ParseAddr(text)
	if err != nil || a.IsUnspecified() || a.IsLoopback() || a.IsMulticast() || a.IsLinkLocalUnicast() || a == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return ""
	}
	return a.Unmap().String()
}

// describe formats the variables.
func (m *Trap) describe(variables []gosnmp.SnmpPDU, n *mib.Names) {
	info, binds := strings.Builder{}, varbinds{}
	info.WriteString(m.Name)
	m.P = make([]string, 0, min(len(variables), MaxValues))
	for i, v := range variables {
		if i == MaxValues {
			fmt.Fprintf(&info, ", and %d more", len(variables)-i)
			break
		}
		name, s := n.Object(v.Name)
		unwrap(&v)
		plain, words := formatValue(&v, s, n)
		m.P = append(m.P, cutText(plain, maxText))
		if at, ok := dateOf(&v, s); ok && m.DeviceTime.IsZero() {
			m.DeviceTime = at
		}
		separator := ", "
		if i == 0 {
			separator = ": "
		}
		if info.Len() < maxText {
			info.WriteString(separator + name + " = " + words)
		}
		binds.add(name, words)
	}
	m.Info, m.Varbinds = cutText(info.String(), maxText), binds.String()
}

// varbinds are the variables of a trap as a JSON object. Repeated names have a list of values.
type varbinds struct {
	names []string // JSON, like all of it
	texts []string // value of each; of several, separated by commas
	lists []bool   // has several values
	size  int
}

// add adds a variable, unless the object would get too large.
func (b *varbinds) add(name, words string) {
	key, _ := json.Marshal(name)
	text, _ := json.Marshal(words)
	at, more := slices.Index(b.names, string(key)), len(text)+len(`[,]`)
	if at < 0 {
		more = len(key) + len(text) + len(`:,`)
	}
	if b.size+more >= maxText {
		return
	}
	b.size += more
	if at >= 0 {
		b.texts[at], b.lists[at] = b.texts[at]+","+string(text), true
		return
	}
	b.names, b.texts, b.lists = append(b.names, string(key)), append(b.texts, string(text)), append(b.lists, false)
}

func (b *varbinds) String() string {
	out := strings.Builder{}
	out.WriteByte('{')
	for i, name := range b.names {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(name + ":")
		if b.lists[i] {
			out.WriteString("[" + b.texts[i] + "]")
		} else {
			out.WriteString(b.texts[i])
		}
	}
	out.WriteByte('}')
	return out.String()
}

// What net-snmp puts into an Opaque, after the tag 0x9f. The library decodes its floating-point numbers.
const (
	opaqueCounter64  = 0x76
	opaqueInteger64  = 0x7a
	opaqueUnsigned64 = 0x7b
)

// unwrap decodes a 64-bit number in an Opaque. Other values are not changed.
func unwrap(v *gosnmp.SnmpPDU) {
	b, ok := v.Value.([]byte)
	if !ok || v.Type != gosnmp.Opaque || len(b) < 2 || b[0] != gosnmp.AsnExtensionTag {
		return
	}
	tag, in := b[1], ber{rest: b[1:]}
	if tag != opaqueCounter64 && tag != opaqueInteger64 && tag != opaqueUnsigned64 {
		return
	}
	body := in.next(tag)
	if len(body) == 9 && body[0] == 0 && tag != opaqueInteger64 {
		body = body[1:]
	}
	if in.bad || len(in.rest) > 0 || len(body) == 0 || len(body) > 8 {
		return
	}
	var n uint64
	if tag == opaqueInteger64 && body[0] >= 0x80 {
		n = math.MaxUint64
	}
	for _, c := range body {
		n = n<<8 | uint64(c)
	}
	if v.Value = any(n); tag == opaqueInteger64 {
		v.Value = int64(n)
	}
}

// cutText truncates a text between two characters.
func cutText(text string, length int) string {
	if len(text) <= length {
		return text
	}
	for length > 0 && !utf8.RuneStart(text[length]) {
		length--
	}
	return text[:length]
}

// formatValue formats a value: plain, as filters and scripts compare it whatever MIB files exist, and with names.
func formatValue(v *gosnmp.SnmpPDU, s *mib.Syntax, n *mib.Names) (plain, words string) {
	switch x := v.Value.(type) {
	case nil:
		switch v.Type {
		case gosnmp.NoSuchObject:
			return "", "noSuchObject"
		case gosnmp.NoSuchInstance:
			return "", "noSuchInstance"
		}
		return "", ""
	case []byte:
		return formatOctets(x, s)
	case string:
		if v.Type == gosnmp.ObjectIdentifier {
			plain = strings.TrimPrefix(x, ".")
			words, _ = n.Object(plain)
			return plain, words
		}
		return x, x
	case float32:
		plain = strconv.FormatFloat(float64(x), 'g', -1, 32)
		return plain, plain
	case float64:
		plain = strconv.FormatFloat(x, 'g', -1, 64)
		return plain, plain
	case int:
		plain = strconv.Itoa(x)
		return plain, formatNumber(int64(x), plain, s)
	}
	plain = fmt.Sprint(v.Value)
	if ticks, ok := v.Value.(uint32); ok && v.Type == gosnmp.TimeTicks {
		return plain, (time.Duration(ticks) * 10 * time.Millisecond).String()
	}
	if number, err := strconv.ParseInt(plain, 10, 64); err == nil {
		return plain, formatNumber(number, plain, s)
	}
	return plain, plain
}

func formatNumber(number int64, plain string, s *mib.Syntax) string {
	if s == nil || s.Bits {
		return plain
	}
	if name, ok := s.Enum[number]; ok {
		return name + "(" + plain + ")"
	}
	return hintNumber(s.Hint, number, plain)
}

// formatOctets formats octets: by their type, as text if they are text, otherwise in hexadecimal.
func formatOctets(b []byte, s *mib.Syntax) (plain, words string) {
	plain = octetText(b)
	if s == nil {
		return plain, plain
	}
	if s.Bits {
		return plain, bitNames(b, s.Enum, plain)
	}
	if at, ok := dateText(b, s.Hint); ok {
		return at, at
	}
	if text, ok := hintOctets(s.Hint, b); ok {
		return text, text
	}
	return plain, plain
}

// octetText returns octets as text if they are; only NULs are no text.
func octetText(b []byte) string {
	if text := strings.TrimRight(string(b), "\x00"); printable(text) && (text != "" || len(b) == 0) {
		return text
	}
	out := make([]byte, 0, 3*len(b))
	for i, c := range b {
		if i > 0 {
			out = append(out, ':')
		}
		out = hex.AppendEncode(out, []byte{c})
	}
	return string(out)
}

func printable(text string) bool {
	if !utf8.ValidString(text) {
		return false
	}
	for _, r := range text {
		if !unicode.IsPrint(r) && r != '\t' && r != '\n' && r != '\r' {
			return false
		}
	}
	return true
}

// bitNames lists the bits that are set; the first is the highest of the first octet.
func bitNames(b []byte, bits map[int64]string, plain string) string {
	var set []string
	for i := range min(8*len(b), 1024) {
		if b[i/8]&(0x80>>(i%8)) == 0 {
			continue
		}
		name, ok := bits[int64(i)]
		if !ok {
			return plain
		}
		set = append(set, fmt.Sprintf("%s(%d)", name, i))
	}
	return strings.Join(slices.Clip(set), " ")
}
