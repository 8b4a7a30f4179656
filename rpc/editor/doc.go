// Package editor is the editor's end of the Drawbridge protocol in Go. `drawbridge chat` and the end-to-end tests use it; who
// writes a plugin can read it as the plainest client that is complete.
//
//	c, err := editor.Launch(ctx, exec.Command("drawbridge", "serve"), handler, editor.Options{})
//	greeting, err := c.Initialize(ctx, rpc.InitializeParams{CWD: cwd, Capabilities: …})
//	turn, err := c.UserMessage(ctx, greeting.SessionID, "What does this package do?")
//	err = c.Shutdown(ctx)
//
// # Life of a user message
//
//	UserMessage                 → {"id":2,"method":"user_message",…}
//	  Handler.Notification      ← turn_start, assistant_token, tool_use_start, …     one at a time, in the order of the wire
//	  Handler.Permission        ← {"id":1,"method":"permission_request",…}           beside everything else, as long as it takes
//	                            → {"id":1,"result":{"decision":"allow",…}}
//	  Handler.Notification      ← prompt_resolved, tool_result, turn_complete
//	UserMessage returns         ← {"id":2,"result":{"status":"completed",…}}         after the last notification was handled
//
// # Who runs what
//
// One goroutine reads. It calls Handler.Notification itself, so a handler that takes its time makes the bridge wait: that is the
// back-pressure. It must therefore never wait for an answer of the bridge. Each request of the bridge gets a goroutine, whose
// context ends when the bridge takes the request back with $/cancelRequest and when the connection ends.
package editor
