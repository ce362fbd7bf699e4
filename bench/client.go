package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// client is one connection that is kept alive. It does as little as HTTP allows, because it shares the cores with the
// server: requests are whole in memory, and of an answer it reads the status, the length and the body.
type client struct {
	conn   net.Conn
	reader *bufio.Reader
	body   []byte
}

// patience bounds one request; the server gives up earlier.
const patience = 30 * time.Second

func dial(addr string) (*client, error) {
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	return &client{conn: conn, reader: bufio.NewReaderSize(conn, 16<<10)}, nil
}

func (c *client) close() { c.conn.Close() }

// do sends a request and gives the answer; its body is good until the next call.
func (c *client) do(request []byte) (status int, body []byte, err error) {
	if err := c.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return 0, nil, err
	}
	if _, err := c.conn.Write(request); err != nil {
		return 0, nil, err
	}
	line, err := c.line()
	if err != nil {
		return 0, nil, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return 0, nil, fmt.Errorf("the answer starts with %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, nil, fmt.Errorf("the answer starts with %q", line)
	}
	length := -1
	for {
		if line, err = c.line(); err != nil {
			return 0, nil, err
		}
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if len(name) == len("content-length") && strings.EqualFold(string(name), "content-length") {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, nil, err
			}
		}
	}
	if length < 0 || length > 64<<20 {
		return 0, nil, fmt.Errorf("answer %d without a usable Content-Length", status)
	}
	if cap(c.body) < length {
		c.body = make([]byte, length)
	}
	c.body = c.body[:length]
	_, err = io.ReadFull(c.reader, c.body)
	return status, c.body, err
}

func (c *client) line() ([]byte, error) {
	line, err := c.reader.ReadSlice('\n')
	return bytes.TrimRight(line, "\r\n"), err
}

// appendHead writes the head of a request with a body of n bytes.
func appendHead(dst []byte, path, key, media string, n int) []byte {
	return fmt.Appendf(dst, "POST %s HTTP/1.1\r\nHost: bench\r\nx-api-key: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", path, key, media, n)
}

// accepted reads the number of accepted rows out of a report.
func accepted(report []byte) int {
	_, rest, ok := bytes.Cut(report, []byte(`"accepted":`))
	if !ok {
		return 0
	}
	n := 0
	for _, c := range rest {
		if c < '0' || c > '9' {
			break
		}
		n = 10*n + int(c-'0')
	}
	return n
}
