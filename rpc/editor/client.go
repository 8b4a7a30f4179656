package editor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"drawbridge/rpc/stream"

	"go.lsp.dev/jsonrpc2"
)

// Options are what a client may choose. The zero value is right.
type Options struct {
	// Framing is NDJSON (also for Auto) or LSP. The editor speaks first, so there is nothing to detect.
	Framing stream.Framing
	// Trace sees every frame in the order of the wire. See stream.Options.
	Trace func(stream.Direction, []byte)
	// Grace is how long the bridge may take to end once it was told to; then its process is killed. 0 is DefaultGrace.
	Grace time.Duration
}

// DefaultGrace is longer than a bridge takes to stop a claude that resists.
const DefaultGrace = 15 * time.Second

// Client is a connection to a bridge. Its methods may be called by any goroutine but the one that runs Handler.Notification.
type Client struct {
	handler Handler
	options Options
	stream  *stream.Stream
	conn    jsonrpc2.Conn
	cmd     *exec.Cmd // nil after Connect

	ctx    context.Context // the life of the connection: the parent of every request of the bridge
	cancel context.CancelFunc

	mu   sync.Mutex                   // guards open
	open map[int64]context.CancelFunc // requests of the bridge that are not answered yet, by id

	ended chan struct{} // closed when the connection is over and the process is gone
	err   error         // how it ended; to be read once ended is closed
}

// Launch starts cmd, which must be a bridge (`drawbridge serve`), and connects to its stdin and stdout. The caller says where its
// stderr goes. The connection lives until ctx ends, Shutdown, or the end of the process.
func Launch(ctx context.Context, cmd *exec.Cmd, h Handler, o Options) (*Client, error) {
	out, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	in, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if cmd.WaitDelay == 0 {
		cmd.WaitDelay = time.Second // for a stderr that somebody below the bridge holds open
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the bridge: %w", err)
	}
	return start(ctx, cmd, in, out, h, o), nil
}

// Connect speaks to a bridge that reads what is written to out and writes what is read from in. Both are closed at the end, if they
// can be.
func Connect(ctx context.Context, in io.Reader, out io.Writer, h Handler, o Options) *Client {
	return start(ctx, nil, in, out, h, o)
}

func start(ctx context.Context, cmd *exec.Cmd, in io.Reader, out io.Writer, h Handler, o Options) *Client {
	if o.Framing == stream.Auto {
		o.Framing = stream.NDJSON
	}
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	c := &Client{handler: h, options: o, cmd: cmd, open: map[int64]context.CancelFunc{}, ended: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	c.stream = stream.New(in, out, stream.Options{Framing: o.Framing, Trace: o.Trace,
		// The library waits for its handlers before it says that the connection is over, so those end first.
		OnEOF: c.cancel, OnFail: func(error) { c.cancel() }})
	c.conn = jsonrpc2.NewConn(c.stream, jsonrpc2.WithCodec(codec{}))
	// Not ctx: when the reader's own context ends, the last answers are thrown away.
	c.conn.Go(context.WithoutCancel(ctx), c.handle)
	go c.reap()
	stop := context.AfterFunc(ctx, func() { c.hangUp(o.Grace) })
	context.AfterFunc(c.ctx, func() { stop() })
	return c
}

// reap waits for the end of the connection and then for that of the process. The order matters: Wait closes the pipe that is
// being read.
func (c *Client) reap() {
	<-c.conn.Done()
	c.cancel()
	_ = c.stream.Close()
	c.err = c.conn.Err()
	if c.cmd != nil {
		late := time.AfterFunc(c.options.Grace, c.kill) // it has closed its stdout and lives on
		c.err = c.cmd.Wait()
		late.Stop()
	}
	close(c.ended)
}

// hangUp ends the connection without asking. The bridge stops by itself when its input ends; one that does not is killed.
func (c *Client) hangUp(grace time.Duration) {
	_ = c.stream.Close()
	select {
	case <-c.ended:
	case <-time.After(grace):
		c.kill()
	}
}

func (c *Client) kill() {
	if c.cmd != nil {
		_ = c.cmd.Process.Kill()
	}
}

// Ended is closed when the connection is over and the process, if there is one, is gone.
func (c *Client) Ended() <-chan struct{} { return c.ended }

// Wait waits for that and says how it ended. For a process that is nil or an *exec.ExitError, as of exec.Cmd.
func (c *Client) Wait() error {
	<-c.ended
	return c.err
}

// codec reads and writes params and results with encoding/json, for which the types of package rpc are tagged.
type codec struct{}

func (codec) Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // what the user wrote stays readable in a trace
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

func (codec) Unmarshal(data []byte, v any) error { return json.Unmarshal(data, v) }
