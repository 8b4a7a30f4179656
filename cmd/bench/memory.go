package main

import (
	"time"
)

// manySessions is how many sessions an editor with many windows may have.
const manySessions = 8

// measureSessions measures the memory of a bridge with one session, and with many, their CLIs running and idle.
func measureSessions(w *world, t *table) error {
	c, err := w.bridge(true)
	if err != nil {
		return err
	}
	defer c.close()
	if _, err := c.request("context_usage", "{}"); err != nil { // answered when the CLI is up
		return err
	}
	one, err := w.settled(c)
	if err != nil {
		return err
	}
	for range manySessions - 1 {
		if _, err := c.request("session_new", "{}"); err != nil {
			return err
		}
	}
	for deadline := time.Now().Add(10 * time.Second); len(children(c.pid())) < manySessions && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
	many, err := w.settled(c)
	if err != nil {
		return err
	}
	t.value("PSS idle, one session, with guard", "MB", one, 15)
	t.value("PSS with 8 sessions, with guards", "MB", many, 40)
	return nil
}

// settled is the memory when the runtime has given back what it is going to.
func (w *world) settled(c *conversation) (float64, error) {
	time.Sleep(time.Duration(w.sizes.settle) * time.Second)
	return w.memory(c)
}

// memory is the PSS of the bridge and its guards, in MB. The CLIs, which are the guards' children, do not count.
func (w *world) memory(c *conversation) (float64, error) {
	sum, err := pss(c.pid())
	if err != nil {
		return 0, err
	}
	for _, guard := range children(c.pid()) {
		mb, err := pss(guard)
		if err != nil {
			return 0, err
		}
		sum += mb
	}
	return sum, nil
}
