package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// measureLatency measures what is on the way one at a time: first tokens, one token per ms, questions and their answers.
func measureLatency(w *world, t *table) error {
	sides, done, err := w.sides()
	if err != nil {
		return err
	}
	defer done()
	var first, in, out, paced, asked, answered [2][]float64 // ms
	for range w.sizes.firsts {
		for i, c := range sides {
			up, down, err := c.first()
			if err != nil {
				return err
			}
			first[i], in[i], out[i] = append(first[i], up+down), append(in[i], up), append(out[i], down)
			time.Sleep(10 * time.Millisecond) // a user types more slowly still
		}
	}
	for range w.sizes.rounds {
		for i, c := range sides {
			v, err := c.paced(w.sizes.paced)
			if err != nil {
				return err
			}
			paced[i] = append(paced[i], v...)
		}
		for i, c := range sides {
			there, back, err := c.asked(w.sizes.asks)
			if err != nil {
				return err
			}
			asked[i], answered[i] = append(asked[i], there...), append(answered[i], back...)
		}
	}
	const of = "cat"
	t.compare("first token of a warm session, message in + token out, p50", "ms", median(first[0]), median(first[1]), of, 1, 0.3)
	t.compare("  of it the message, editor → CLI, p50", "ms", median(in[0]), median(in[1]), of, 0, 0)
	t.compare("  of it the token, CLI → editor, p50", "ms", median(out[0]), median(out[1]), of, 0, 0)
	t.compare("1 delta per ms, p50", "ms", median(paced[0]), median(paced[1]), of, 2, 0)
	t.compare("1 delta per ms, p99", "ms", percentile(paced[0], 99), percentile(paced[1], 99), of, 2, 0)
	t.compare("permission question, CLI → editor, p50", "ms", median(asked[0]), median(asked[1]), of, 2, 0.1)
	t.compare("its answer, editor → CLI, p50", "ms", median(answered[0]), median(answered[1]), of, 2, 0.1)
	return nil
}

// first is how long a message was on its way to the CLI, and the first token of the answer on its way back, in ms.
func (c *conversation) first() (up, down float64, err error) {
	sent := monotonic()
	result, err := c.turn("first "+stamp(sent), hooks{token: func(text []byte) (err error) {
		now := monotonic()
		down, err = since(text, now)
		return err
	}})
	if err != nil {
		return 0, 0, err
	}
	arrived, err := strconv.ParseInt(result, 10, 64)
	return float64(arrived-sent) / 1e6, down, err
}

// paced is how long each of n tokens was on its way, in ms.
func (c *conversation) paced(n int) ([]float64, error) {
	list := make([]float64, 0, n)
	_, err := c.turn(fmt.Sprintf("pace %d", n), hooks{token: func(text []byte) error {
		now := monotonic()
		v, err := since(text, now)
		list = append(list, v)
		return err
	}})
	if err == nil && len(list) != n {
		err = fmt.Errorf("%s: %d of %d tokens arrived", c.name, len(list), n)
	}
	return list, err
}

// asked is how long each of n questions and its answer were on their ways, in ms.
func (c *conversation) asked(n int) (there, back []float64, err error) {
	var sent []int64
	result, err := c.turn(fmt.Sprintf("ask %d", n), hooks{ask: func(line []byte) error {
		now := monotonic()
		v, err := since(line[bytes.Index(line, []byte(askMark))+len(askMark):], now)
		if err != nil {
			return err
		}
		there = append(there, v)
		text, err := c.allow(line)
		if err != nil {
			return err
		}
		sent = append(sent, monotonic())
		return c.write(text)
	}})
	if err != nil {
		return nil, nil, err
	}
	arrived := strings.Fields(result)
	if len(arrived) != n || len(sent) != n {
		return nil, nil, fmt.Errorf("%s: %d questions and %d answers of %d arrived", c.name, len(sent), len(arrived), n)
	}
	for i, text := range arrived {
		ns, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, nil, err
		}
		back = append(back, float64(ns-sent[i])/1e6)
	}
	return there, back, nil
}

// since is the time in ms from the stamp that text begins with to now.
func since(text []byte, now int64) (float64, error) {
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	ns, err := strconv.ParseInt(string(text[:end]), 10, 64)
	return float64(now-ns) / 1e6, err
}
