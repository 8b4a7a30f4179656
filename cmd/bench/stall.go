package main

import (
	"errors"
	"fmt"
	"time"
)

// errPause ends listening in the middle of a turn.
var errPause = errors.New("pause")

// measureStall has the editor stop reading in the middle of a flood without end, and interrupt the turn meanwhile. Nothing may pile
// up, nothing may be lost, and the interrupt may not wait for the editor.
func measureStall(w *world, t *table) error {
	c, err := w.bridge(true)
	if err != nil {
		return err
	}
	defer c.close()
	if _, err := c.turn("first 1", hooks{}); err != nil {
		return err
	}
	time.Sleep(time.Duration(w.sizes.settle) * time.Second)
	idle, err := pss(c.pid())
	if err != nil {
		return err
	}
	peak := watchPeak(c.pid())

	got := 0
	check := inOrder(&got)
	if err := c.say("flood 0"); err != nil {
		return err
	}
	turn, stop := c.calls, w.sizes.flood/10
	_, err = c.listen(turn, hooks{token: func(text []byte) error {
		if err := check(text); err != nil || got < stop {
			return err
		}
		return errPause
	}})
	if !errors.Is(err, errPause) {
		return fmt.Errorf("the flood ended early: %w", err)
	}
	length := time.Duration(w.sizes.stall) * time.Second
	time.Sleep(length / 2)
	sent := monotonic()
	c.calls++
	if err := c.write(call(c.calls, "interrupt", "{}")); err != nil {
		return err
	}
	time.Sleep(length / 2)
	result, err := c.listen(turn, hooks{token: check})
	most := peak()
	if err != nil {
		return err
	}
	var told int
	var arrived int64
	if _, err := fmt.Sscan(result, &told, &arrived); err != nil {
		return fmt.Errorf("no interrupt arrived: %q", result)
	}
	if told != got {
		return fmt.Errorf("%d tokens arrived of %d sent", got, told)
	}
	t.value(fmt.Sprintf("editor does not read for %d s of a flood, none lost: growth of PSS", w.sizes.stall), "MB", max(most-idle, 0), 10)
	t.value("  an interrupt meanwhile, editor → CLI", "ms", float64(arrived-sent)/1e6, 0)
	return nil
}

// watchPeak looks at the memory of a process until the function that it returns is called, which tells the most there was, in MB.
func watchPeak(pid int) (peak func() float64) {
	done, most := make(chan struct{}), make(chan float64)
	go func() {
		var m float64
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			if mb, err := pss(pid); err == nil { // it has ended: the listener says so
				m = max(m, mb)
			}
			select {
			case <-tick.C:
			case <-done:
				most <- m
				return
			}
		}
	}()
	return func() float64 {
		close(done)
		return <-most
	}
}
