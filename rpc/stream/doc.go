// Package stream carries JSON-RPC frames between an editor and Drawbridge.
//
// A [Stream] is a jsonrpc2.Stream for stdio: it frames, it survives bad input,
// and it never makes a writer wait for the editor. The server and the editor's
// end in Go both use it.
//
// # Reading
//
//	input      bytes → one frame, at most MaxFrame long     (input.go, framing.go)
//	scanner    is it JSON? where are id, method, result?    (scan.go)
//	admit      request → on; response → repaired, on;       (admit.go, response.go, batch.go)
//	           anything else → answered with an error and forgotten
//	jsonrpc2   dispatches the frame
//
// jsonrpc2 v1.0.1 ends the connection, without a word, at the first frame it
// cannot read. So a frame reaches it only if it can.
//
// # Writing
//
// All writers append whole frames to one buffer (output.go), so one order holds
// for notifications, responses and requests. Nothing is written to the editor
// while the buffer is locked. The bytes leave by one writer at a time
// (flush.go):
//
//   - whoever pumps a flood (Claude's tokens) appends with
//     [Stream.AppendNotification], calls [Stream.Flush] when it has nothing more
//     to append or [FlushAt] bytes are pending, and then [Stream.Pace], which
//     waits for an editor that reads too slowly;
//   - everybody else just writes, and the stream's own goroutine, started by
//     [New] and ended by [Stream.Close], flushes.
//
// An editor that leaves MaxPending bytes unread is taken for dead.
package stream
