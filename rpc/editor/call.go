package editor

import (
	"context"
	"encoding/json"
	"errors"

	"drawbridge/bridge"
	"drawbridge/rpc"

	"go.lsp.dev/jsonrpc2"
)

// Call sends a request and waits for its answer, which it decodes into result; nil ignores it. When it returns, every notification
// that came before the answer has been handled.
//
// When ctx ends first, the request is taken back with $/cancelRequest and Call returns ctx's error. The bridge answers all the
// same, which nobody sees: to stop a turn and hear how it ended, use Interrupt.
//
// An error that the bridge answers is an *Error.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	id, err := c.conn.Call(ctx, method, params, result)
	var answered *jsonrpc2.Error
	switch {
	case errors.As(err, &answered):
		return newError(answered)
	case err != nil && ctx.Err() != nil:
		if n, ok := id.Number(); ok {
			_ = c.conn.Notify(context.WithoutCancel(ctx), "$/cancelRequest", map[string]int64{"id": n})
		}
		return ctx.Err()
	}
	return err
}

// Notify sends a notification. It does not wait for it to be written.
func (c *Client) Notify(ctx context.Context, method string, params any) error {
	return c.conn.Notify(ctx, method, params)
}

// Initialize is the first request.
func (c *Client) Initialize(ctx context.Context, p InitializeParams) (rpc.InitializeResult, error) {
	if p.ProtocolVersion == "" {
		p.ProtocolVersion = rpc.ProtocolVersion
	}
	var r rpc.InitializeResult
	if err := c.Call(ctx, "initialize", p, &r); err != nil {
		return r, err
	}
	return r, c.Notify(ctx, "initialized", struct{}{})
}

// InitializeParams are the params of initialize.
type InitializeParams struct {
	ProtocolVersion string           `json:"protocol_version"` // empty: rpc.ProtocolVersion
	ClientInfo      rpc.Peer         `json:"client_info"`
	ProcessID       int              `json:"process_id,omitempty"` // the bridge ends when this process does
	CWD             string           `json:"cwd,omitempty"`        // absolute
	Capabilities    rpc.Capabilities `json:"capabilities"`
	// Options are the options of all sessions. What is not in it is as the user's settings say.
	Options map[string]any `json:"options,omitempty"`
}

// UserMessage says text in a session ("" is the default one) and waits until the turn is over. A turn that failed is no error:
// see the result's Status.
func (c *Client) UserMessage(ctx context.Context, session, text string) (bridge.TurnResult, error) {
	return c.Send(ctx, Message{SessionID: session, Content: text})
}

// Send is UserMessage with everything that may be said of one.
func (c *Client) Send(ctx context.Context, m Message) (bridge.TurnResult, error) {
	var r bridge.TurnResult
	err := c.Call(ctx, "user_message", m, &r)
	return r, err
}

// Message is the params of user_message.
type Message struct {
	SessionID     string               `json:"session_id,omitempty"`
	UserMessageID string               `json:"user_message_id,omitempty"` // a UUID; empty: the bridge chooses one
	Content       any                  `json:"content"`                   // a string, or content blocks
	Context       []bridge.ContextItem `json:"context,omitempty"`
	WhenBusy      string               `json:"when_busy,omitempty"` // queue (default), reject
}

// Interrupt ends the running turn, whose UserMessage then returns with status "cancelled". Messages that wait are kept.
func (c *Client) Interrupt(ctx context.Context, session string) error {
	return c.Call(ctx, "interrupt", rpc.SessionParams{SessionID: session}, nil)
}

// Shutdown ends the sessions and the bridge and says how the process ended, as Wait does. A bridge that has not ended when ctx ends,
// or after the grace of Options, is killed.
func (c *Client) Shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.options.Grace)
	defer cancel()
	_ = c.Call(ctx, "shutdown", nil, nil) // a bridge that cannot even answer is dealt with below
	_ = c.Notify(ctx, "exit", nil)
	select {
	case <-c.ended:
	case <-ctx.Done():
		c.hangUp(0)
	}
	return c.Wait()
}

// Error is an error that the bridge has answered. A request that fails with one was never taken.
type Error struct {
	Code    int64
	Message string // what happened
	Kind    string // what kind of failure, as in docs/protocol.md
	Remedy  string // what to do about it
}

func (e *Error) Error() string { return e.Message }

func newError(answered *jsonrpc2.Error) *Error {
	e := &Error{Code: int64(answered.Code), Message: answered.Message}
	var data struct {
		Kind   string `json:"kind"`
		Remedy string `json:"remedy"`
	}
	if json.Unmarshal(answered.Data, &data) == nil {
		e.Kind, e.Remedy = data.Kind, data.Remedy
	}
	return e
}
