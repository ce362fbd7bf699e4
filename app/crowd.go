package app

import (
	"net"
	"sync"
)

// crowded is a listener that takes no more connections than it has places; the next one waits in the kernel's queue
// until another ends. Each connection costs memory before it has said a word.
type crowded struct {
	net.Listener
	places chan struct{}
	once   sync.Once
	closed chan struct{}
}

func crowdedListener(l net.Listener, places int) *crowded {
	return &crowded{Listener: l, places: make(chan struct{}, places), closed: make(chan struct{})}
}

// Accept waits for a place, then for a connection.
func (l *crowded) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &placed{Conn: c, leave: sync.OnceFunc(func() { <-l.places })}, nil
}

// Close ends the wait for a place, too.
func (l *crowded) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// placed is a connection that gives its place back when it is closed.
type placed struct {
	net.Conn
	leave func()
}

func (c *placed) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
