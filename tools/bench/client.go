package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"strconv"
	"strings"
	"time"
)

// client is one connection that is kept alive. It does as little as HTTP allows, because it shares the cores with the
// server: requests are whole in memory, and of an answer it reads the status, the length and the body.
type client struct {
	conn   net.Conn
	reader *bufio.Reader
	body   bytes.Buffer
}

// requestTimeout bounds one request; the server gives up earlier.
const requestTimeout = 60 * time.Second

func dial(addr string) (*client, error) {
	conn, err := net.DialTimeout("tcp", addr, requestTimeout)
	if err != nil {
		return nil, err
	}
	return &client{conn: conn, reader: bufio.NewReaderSize(conn, 64<<10)}, nil
}

func (c *client) close() { c.conn.Close() }

// do sends a request and gives the answer; its body is good until the next call.
func (c *client) do(request []byte) (status int, body []byte, err error) {
	if err := c.conn.SetDeadline(time.Now().Add(requestTimeout)); err != nil {
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
	length, chunked, err := c.head()
	if err != nil {
		return 0, nil, err
	}
	c.body.Reset()
	switch {
	case chunked:
		_, err = c.body.ReadFrom(httputil.NewChunkedReader(c.reader))
		if err == nil {
			_, err = c.line() // the empty one after the last chunk
		}
	case length < 0:
		err = fmt.Errorf("answer %d without a usable length", status)
	default:
		_, err = io.CopyN(&c.body, c.reader, length)
	}
	return status, c.body.Bytes(), err
}

// head reads the lines before the body; the length is below zero when it is unknown.
func (c *client) head() (length int64, chunked bool, err error) {
	length = -1
	for {
		line, err := c.line()
		if err != nil || len(line) == 0 {
			return length, chunked, err
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case isHeader(name, "content-length"):
			if length, err = strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64); err != nil {
				return 0, false, err
			}
		case isHeader(name, "transfer-encoding"):
			chunked = true
		}
	}
}

func isHeader(name []byte, want string) bool {
	return len(name) == len(want) && strings.EqualFold(string(name), want)
}

func (c *client) line() ([]byte, error) {
	line, err := c.reader.ReadSlice('\n')
	return bytes.TrimRight(line, "\r\n"), err
}

// appendHead writes the head of a request with a body of n bytes.
func appendHead(dst []byte, path, key string, n int) []byte {
	return fmt.Appendf(dst, "POST %s HTTP/1.1\r\nHost: bench\r\nx-api-key: %s\r\nContent-Type: text/csv\r\nContent-Length: %d\r\n\r\n", path, key, n)
}

// accepted reads the number of accepted rows out of a report.
func accepted(report []byte) int {
	_, rest, _ := bytes.Cut(report, []byte(`"accepted":`))
	n := 0
	for _, c := range rest {
		if c < '0' || c > '9' {
			break
		}
		n = 10*n + int(c-'0')
	}
	return n
}
