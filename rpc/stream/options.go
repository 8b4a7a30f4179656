package stream

// Limits used where Options has 0.
const (
	DefaultMaxFrame   = 64 << 20 // bytes
	DefaultMaxPending = 64 << 20 // bytes
)

// Direction says which way a traced frame goes, as seen from this side.
type Direction uint8

const (
	In  Direction = iota // received
	Out                  // sent
)

// Options configure a Stream. The zero value is right for a server's stdio.
//
// The functions may be nil. What they are given is valid until they return.
type Options struct {
	// Framing is LSP or NDJSON on the side that speaks first.
	Framing Framing
	// MaxFrame is how many bytes an incoming frame may have. A larger one is
	// answered with an error and skipped.
	MaxFrame int
	// MaxPending is how many bytes the editor may leave unread before it is
	// taken for dead; see ErrStalled.
	MaxPending int

	// OnEOF is called once, by the reading goroutine, when the input has ended
	// for whatever reason, before the reader learns it. Until OnEOF returns,
	// requests in flight can be answered; afterwards jsonrpc2 discards their
	// responses.
	OnEOF func()
	// OnFail is called once when the output has failed: a write error, or
	// ErrStalled. Whoever noticed it calls OnFail, so it must not block.
	OnFail func(err error)
	// OnReject is told of each incoming frame that was answered with an error
	// by the stream or that reaches nobody, and why. Of a frame that is too
	// large it sees the beginning.
	OnReject func(why string, frame []byte)
	// Trace sees each frame, without framing, in the order of the wire: incoming
	// ones as they came, good or bad, outgoing ones when they are queued. For
	// the order's sake it is called with the output locked: it must be quick,
	// and must not use the Stream.
	Trace func(dir Direction, frame []byte)
}
