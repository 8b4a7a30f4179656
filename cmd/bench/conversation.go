package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"
)

// conversation is the editor's end of a session: with drawbridge between it and the CLI, or with cat.
type conversation struct {
	dialect
	in    *os.File
	out   *bufio.Reader
	relay *exec.Cmd   // what the CLI's output goes through: drawbridge or cat
	procs []*exec.Cmd // all that were started
	calls int         // requests so far
}

// dialect is what the editor's end reads and writes.
type dialect struct {
	name  string
	token []byte // stands before the text of a token, and in no other line
	ask   []byte // in the line of a permission question, and in no other
	// message is a user message.
	message func(call int, text string) string
	// allow answers the question.
	allow func(question []byte) (string, error)
	// result reads the end of the turn that the message with this number began; ok is false of any other line.
	result func(line []byte, call int) (text string, ok bool, err error)
}

// open opens the pipes of an editor and starts what is at their other ends. in is where the editor writes, out where it reads.
func open(d dialect, start func(c *conversation, in, out *os.File) error) (*conversation, error) {
	c := &conversation{dialect: d}
	theirIn, in, err := blockingPipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := blockingPipe()
	if err != nil {
		return nil, err
	}
	c.in, c.out = in, bufio.NewReaderSize(out, 64<<10)
	err = start(c, theirIn, theirOut)
	_ = theirIn.Close()
	_ = theirOut.Close()
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *conversation) start(cmd *exec.Cmd, in, out *os.File) error {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	c.procs = append(c.procs, cmd)
	return nil
}

// close ends the input and waits for everybody, but not for ever.
func (c *conversation) close() {
	_ = c.in.Close()
	timer := time.AfterFunc(10*time.Second, func() {
		for _, p := range c.procs {
			_ = p.Process.Kill()
		}
	})
	defer timer.Stop()
	_, _ = io.Copy(io.Discard, c.out) // somebody may still have something to say
	for _, p := range c.procs {
		_ = p.Wait()
	}
}

// pid is the process that is measured.
func (c *conversation) pid() int { return c.relay.Process.Pid }

func (c *conversation) write(line string) error {
	_, err := io.WriteString(c.in, line+"\n")
	return err
}

// say sends a user message.
func (c *conversation) say(text string) error {
	c.calls++
	return c.write(c.message(c.calls, text))
}

// hooks are called while a turn runs. What they are given is valid until they return.
type hooks struct {
	token func(text []byte) error
	ask   func(line []byte) error
}

// turn sends a message and reads until its turn is over. It returns the turn's result.
func (c *conversation) turn(text string, h hooks) (string, error) {
	if err := c.say(text); err != nil {
		return "", err
	}
	return c.listen(c.calls, h)
}

// listen reads until the turn of the message with this number is over.
func (c *conversation) listen(call int, h hooks) (string, error) {
	for {
		line, err := c.out.ReadSlice('\n')
		if err != nil {
			return "", fmt.Errorf("%s: %w", c.name, err)
		}
		if i := bytes.Index(line, c.token); i >= 0 {
			if h.token != nil {
				err = h.token(line[i+len(c.token):])
			}
		} else if bytes.Contains(line, c.ask) {
			if h.ask != nil {
				err = h.ask(line)
			}
		} else if text, ok, rerr := c.result(line, call); ok || rerr != nil {
			return text, rerr
		}
		if err != nil {
			return "", err
		}
	}
}

// sides opens one conversation of each kind, and warms it up: what is loaded with the first message is not to be measured.
func (w *world) sides() (list []*conversation, close func(), err error) {
	close = func() {
		for _, c := range slices.Backward(list) {
			c.close()
		}
	}
	for _, start := range []func() (*conversation, error){func() (*conversation, error) { return w.bridge(false) }, w.cats} {
		c, err := start()
		if err != nil {
			close()
			return nil, nil, err
		}
		list = append(list, c)
		for range 5 {
			if _, err := c.turn("first 1", hooks{}); err != nil {
				close()
				return nil, nil, err
			}
		}
	}
	return list, close, nil
}
