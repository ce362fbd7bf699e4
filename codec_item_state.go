package belfry

import (
	"encoding/binary"
	"errors"
	"fmt"
)

const stateVersion = 2

// Append encodes the whole state, its position included, behind dst: the format version, then the fields in order.
func (s *ItemState) Append(dst []byte) []byte {
	dst = append(dst, stateVersion)
	dst = binary.AppendUvarint(dst, uint64(s.Pos))
	dst = s.State.append(dst)
	dst = binary.AppendVarint(dst, int64(s.LastData))
	dst = binary.AppendUvarint(dst, uint64(len(s.Numbers)))
	dst = appendNumbers(dst, s.Numbers)
	dst = binary.AppendUvarint(dst, uint64(len(s.Texts)))
	for _, t := range s.Texts {
		dst = appendText(dst, t)
	}
	return dst
}

// DecodeState reads what Append wrote. The state shares no memory with data; empty lists come back as nil.
func DecodeState(data []byte) (*ItemState, error) {
	if len(data) == 0 {
		return nil, errors.New("state is empty")
	}
	if data[0] != stateVersion {
		return nil, fmt.Errorf("state has format %d, this program knows format %d", data[0], stateVersion)
	}
	d := decoder{data: data[1:]}
	s := &ItemState{Pos: Position(d.uvarint())}
	d.state(&s.State)
	s.LastData = Time(d.varint())
	if n := d.count(8); n > 0 {
		s.Numbers = decodeNumbers(d.bytes(8 * uint64(n)))
	}
	if n := d.count(1); n > 0 {
		s.Texts = make([]string, n)
	}
	for i := range s.Texts {
		s.Texts[i] = d.text()
	}
	if d.err == nil && len(d.data) > 0 {
		d.fail("%d bytes too many", len(d.data))
	}
	if d.err != nil {
		return nil, fmt.Errorf("state: %w", d.err)
	}
	return s, nil
}
