package editor

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"drawbridge/rpc"

	"go.lsp.dev/jsonrpc2"
)

// Handler is what the editor does with what the bridge sends. A nil function is something the editor cannot do: its notifications
// are ignored, its requests answered as unknown. Say the same in the capabilities of Initialize.
type Handler struct {
	// Notification is told everything that happens, one thing after the other, in the order of the wire. It must not wait for an
	// answer of the bridge: nothing is read until it returns.
	Notification func(method string, params json.RawMessage)
	// Permission asks the user whether a tool may run, and blocks until there is an answer; any number may be open at once. ctx ends
	// when the bridge takes the question back: close it then, and return what you like. An error denies.
	Permission func(ctx context.Context, p rpc.PermissionParams) (Decision, error)
	// Question asks the user what the model wants to know, likewise. An error declines.
	Question func(ctx context.Context, q rpc.QuestionParams) (Answers, error)
	// Request answers any other request, as window/showMessageRequest in an LSP client.
	Request func(ctx context.Context, method string, params json.RawMessage) (any, error)
}

// Decision is the answer to a permission_request. The zero Decision denies.
type Decision struct {
	PromptID       string          `json:"prompt_id"`                 // that of the request: an allow without it is a deny
	Decision       string          `json:"decision"`                  // Allow, Deny
	Scope          string          `json:"scope,omitempty"`           // one of the request's scopes; absent: once
	Rules          []string        `json:"rules,omitempty"`           // what a scope beyond once allows; absent: as proposed
	PermissionMode string          `json:"permission_mode,omitempty"` // one of the request's modes
	UpdatedInput   json.RawMessage `json:"updated_input,omitempty"`   // the whole input, with members named in editable exchanged
	UpdatedText    *string         `json:"updated_text,omitempty"`    // instead of it: the user's version of diff.new_text
	Message        string          `json:"message,omitempty"`         // what the model is told
	Interrupt      bool            `json:"interrupt,omitempty"`       // deny, and stop the turn
}

// The decisions.
const (
	Allow = "allow"
	Deny  = "deny"
)

// Answers are the answer to ask_user_question, by the text of the question: a string, or a list of strings where several may be
// chosen. A question that is not answered is left out.
type Answers struct {
	Answers  map[string]any `json:"answers,omitzero"`
	Declined bool           `json:"declined,omitempty"`
	Message  string         `json:"message,omitempty"` // declined: what the model is told
}

// requestCancelled is LSP's code for a request that was taken back.
const requestCancelled = jsonrpc2.Code(-32800)

// handle is the library's handler, called by the reader. What a request needs is decoded here, because its bytes are borrowed; then
// Async lets another goroutine read on while this one waits for the user.
func (c *Client) handle(ctx context.Context, req *jsonrpc2.Request) (any, error) {
	if !req.IsCall() {
		c.notified(req.Method(), json.RawMessage(req.Params()))
		return nil, nil
	}
	answer, err := c.prepare(req)
	if err != nil {
		return nil, err
	}
	id, numbered := req.ID().Number()
	own, cancel := context.WithCancel(c.ctx)
	defer cancel()
	if numbered {
		c.mu.Lock()
		c.open[id] = cancel
		c.mu.Unlock()
		defer func() {
			c.mu.Lock()
			delete(c.open, id)
			c.mu.Unlock()
		}()
	}
	jsonrpc2.Async(ctx)
	result, err := answer(own)
	if own.Err() != nil {
		return nil, &jsonrpc2.Error{Code: requestCancelled, Message: "The request was taken back."}
	}
	return result, err
}

// prepare decodes a request of the bridge and says what answers it.
func (c *Client) prepare(req *jsonrpc2.Request) (func(context.Context) (any, error), error) {
	switch method := req.Method(); {
	case method == "permission_request" && c.handler.Permission != nil:
		return prepared(req, c.handler.Permission)
	case method == "ask_user_question" && c.handler.Question != nil:
		return prepared(req, c.handler.Question)
	case c.handler.Request != nil:
		params := append(json.RawMessage(nil), req.Params()...)
		return func(ctx context.Context) (any, error) { return c.handler.Request(ctx, method, params) }, nil
	default:
		return nil, &jsonrpc2.Error{Code: jsonrpc2.MethodNotFound, Message: "This editor does not know " + strconv.Quote(method) + "."}
	}
}

func prepared[P, R any](req *jsonrpc2.Request, ask func(context.Context, P) (R, error)) (func(context.Context) (any, error), error) {
	var p P
	if err := json.Unmarshal(req.Params(), &p); err != nil {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.InvalidParams, Message: fmt.Sprintf("The params cannot be read: %v.", err)}
	}
	return func(ctx context.Context) (any, error) { return ask(ctx, p) }, nil
}

// notified deals with a notification. One that is wrong is ignored: a newer bridge may send what is not known here.
func (c *Client) notified(method string, params json.RawMessage) {
	if method == "$/cancelRequest" {
		var p struct {
			ID *int64 `json:"id"` // the bridge's own requests have integer ids
		}
		if json.Unmarshal(params, &p) != nil || p.ID == nil {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if cancel := c.open[*p.ID]; cancel != nil {
			cancel()
		}
		return
	}
	if c.handler.Notification != nil {
		c.handler.Notification(method, params)
	}
}
