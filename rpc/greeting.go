package rpc

import "sync"

// greeting sees to it that the answer to initialize is the first thing the editor gets: what the server has to say before waits,
// and requests that come right behind initialize wait, too.
type greeting struct {
	once  sync.Once
	ready chan struct{} // closed when the answer is on its way

	mu   sync.Mutex
	over bool
	held []func() // in order
}

func newGreeting() *greeting { return &greeting{ready: make(chan struct{})} }

func (g *greeting) wait() { <-g.ready }

func (g *greeting) given() bool {
	select {
	case <-g.ready:
		return true
	default:
		return false
	}
}

// after does f now if the answer is out, else when it is.
func (g *greeting) after(f func()) {
	if g.given() {
		f()
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		f()
		return
	}
	g.held = append(g.held, f)
}

// out says that the answer is on its way.
func (g *greeting) out() {
	g.once.Do(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, f := range g.held {
			f()
		}
		g.held, g.over = nil, true
		close(g.ready)
	})
}
