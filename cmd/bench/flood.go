package main

import (
	"fmt"
	"strconv"
	"time"
)

// measureFlood measures what a token costs when there are many, and what is left of it in memory.
func measureFlood(w *world, t *table) error {
	sides, done, err := w.sides()
	if err != nil {
		return err
	}
	defer done()
	var cost, rate [2][]float64 // µs of CPU, tokens/s
	for range w.sizes.floods {
		for i, c := range sides {
			before, err := cpuTime(c.pid())
			if err != nil {
				return err
			}
			began := time.Now()
			got, result, err := c.flood(w.sizes.flood)
			if err != nil {
				return err
			}
			took := time.Since(began).Seconds()
			after, err := cpuTime(c.pid())
			if err != nil {
				return err
			}
			if result != strconv.Itoa(got) || got != w.sizes.flood {
				return fmt.Errorf("%s: %d tokens arrived of %s sent", c.name, got, result)
			}
			cost[i] = append(cost[i], (after-before)*1e6/float64(got))
			rate[i] = append(rate[i], float64(got)/took)
		}
	}
	name := fmt.Sprintf("flood of %d deltas, none lost: ", w.sizes.flood)
	t.compare(name+"CPU per delta", "µs", median(cost[0]), median(cost[1]), "cat", 5, 0)
	t.compare("  deltas per second", "k/s", median(rate[0])/1e3, median(rate[1])/1e3, "cat", 0, 0)
	mb, err := w.settled(sides[0])
	if err != nil {
		return err
	}
	t.value("PSS after the flood, with guard", "MB", mb, 25)
	return nil
}

// flood takes a flood in and checks that it comes in order. It returns how many tokens came, and the CLI's own account.
func (c *conversation) flood(n int) (got int, result string, err error) {
	check := inOrder(&got)
	result, err = c.turn(fmt.Sprintf("flood %d", n), hooks{token: check})
	return got, result, err
}

// inOrder checks that each token is the one after the last.
func inOrder(got *int) func([]byte) error {
	want := make([]byte, numberLen)
	return func(text []byte) error {
		putDecimal(want, *got)
		if len(text) < numberLen+2 || string(text[1:1+numberLen]) != string(want) {
			return fmt.Errorf("token %d is %.20q", *got, text)
		}
		*got++
		return nil
	}
}
