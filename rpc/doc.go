// Package rpc is the editor's side of Drawbridge: our protocol over JSON-RPC 2.0, as docs/protocol.md describes it with one real
// exchange for each method. It knows JSON-RPC and methods; sessions, turns and processes are package bridge's.
//
// # Where things are
//
//	protocol.go      the method table: everything an editor can send, and everything it is sent
//	params.go        params and results of requests         notification.go   params of notifications
//	server.go        lifecycle, dispatch, Serve              call.go           a request: reader, async, cancel, order
//	initialize.go    both forms of initialize, negotiation   greeting.go       nothing comes before its answer
//	session.go       user_message and the verbs of sessions  prompt.go         questions to the editor
//	update.go        a line of the CLI → notifications       event.go          what the bridge knows → notifications
//	tokens.go        the hot path of update.go               lsp.go            what an LSP client understands without a plugin
//	answers.go       answers that come too late              parent*.go        the editor's process
//	errors.go        errors → codes, in one place            codec.go          JSON in and out
//
// # The life of a user_message
//
//	editor: {"id":7,"method":"user_message",…}
//	  stream.ReadFrame           reader goroutine; the frame is bounded and checked
//	  Server.handle              the last stop of panics and errors
//	  Server.dispatch            is it time for it? look the method up
//	  Server.userMessage         decode; t := session.Begin()       ← the order of messages is decided here
//	    call.async               the reader moves on; this goroutine owns request 7
//	    t.Wait ─────────────────────────────────┐
//	  the session's pump                        │
//	    Server.Message           tokens.append → stream.AppendNotification
//	    Server.Event             turn_complete  │
//	    t.finish ───────────────────────────────┘
//	  return the result          the library writes it, and ends the request's context
//	    t.Answered               only now does the session go on
//
// # The life of a prompt
//
//	the bridge: Server.Permission(ctx, …)       a goroutine of the prompt's own
//	  conn.Call("permission_request", …)        the reader brings the answer
//	  {"id":3,"result":{"decision":"allow",…}}  decoded here, judged by the bridge
//	ctx ends: $/cancelRequest {"id":3} goes out before Permission returns
//
// # What the library demands
//
// go.lsp.dev/jsonrpc2 v1.0.1 pools requests and ends the connection rather easily. Hence:
//   - The context of a request is the request. Nothing is derived from it before Async; see call.async.
//   - Its reader runs with a context that never ends: when that ends, the last responses are thrown away. The end of the input is held
//     back until everything is answered; see Server.inputEnded.
//   - A notification handler that returns an error, and any that panics, ends the connection; see Server.handle.
//   - A call to the editor before Async waits for ever, because the reader would have to bring the answer.
//   - Conn.Close waits for a blocked read of stdin, so it is never called.
package rpc
