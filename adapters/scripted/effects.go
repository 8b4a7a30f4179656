package scripted

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// child is a real process that a tool has started, in a session of its own as the CLI's Bash is: who kills our
// process group does not reach it.
type child struct {
	cmd  *exec.Cmd
	done chan struct{}
	out  bytes.Buffer
	err  error
}

// execute runs a command and waits for it. An interrupt kills it with all it has started.
func (p *process) execute(v *voice, command string) (*child, error) {
	c := &child{cmd: shell(command), done: make(chan struct{})}
	c.cmd.Dir, c.cmd.Stdout, c.cmd.Stderr = p.dir, &c.out, &c.out
	ownSession(c.cmd)
	if c.err = p.children.start(c); c.err != nil {
		return c, nil
	}
	go func() { // ends with the child, which a kill of ours may outlive on purpose
		c.err = c.cmd.Wait()
		close(c.done)
	}()
	err := v.untilDone(c.done)
	if errors.Is(err, errInterrupted) {
		killSession(c.cmd)
		<-c.done
	}
	p.children.remove(c)
	return c, err
}

// children are the processes at work. They have a lock of their own because SIGTERM must reach them while a write
// to stdout holds the other.
type children struct {
	mu      sync.Mutex
	running []*child
	ended   bool
}

// start starts a child unless all have been killed; there is no moment in which it runs unknown to kill.
func (c *children) start(one *child) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return errGone
	}
	if err := one.cmd.Start(); err != nil {
		return err
	}
	c.running = append(c.running, one)
	return nil
}

func (c *children) remove(one *child) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = slices.DeleteFunc(c.running, func(other *child) bool { return other == one })
}

// kill is what SIGTERM does on 2.1.329.
func (c *children) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for _, one := range c.running {
		killSession(one.cmd)
	}
}

// really carries a tool out in the working directory. Tools it does not know are pretended.
func (v *voice) really(u *toolUse) (toolOutput, error) {
	path := filePath(u.final)
	if path != "" && !filepath.IsAbs(path) {
		path = filepath.Join(v.process.dir, path)
	}
	out := pretended(u)
	failed := func(err error) (toolOutput, error) { return toolOutput{text: err.Error(), fails: true}, nil }
	switch u.step.name {
	case "Bash":
		c, err := v.process.execute(v, field(u.final, "command"))
		if err != nil {
			return toolOutput{}, err
		}
		text := strings.TrimRight(c.out.String(), "\n")
		var exit *exec.ExitError
		switch {
		case errors.As(c.err, &exit):
			return toolOutput{text: fmt.Sprintf("Exit code %d\n%s", exit.ExitCode(), text), fails: true}, nil
		case c.err != nil:
			return failed(c.err)
		case text != "":
			out.text, out.stdout = text, text
		}
	case "Write":
		if old, err := os.ReadFile(path); err == nil {
			s := string(old)
			out.original = &s
			out.text = "The file " + path + " has been updated successfully." + current
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return failed(err)
		}
		if err := os.WriteFile(path, []byte(field(u.final, "content")), 0o666); err != nil {
			return failed(err)
		}
	case "Edit":
		old, err := os.ReadFile(path)
		if err != nil {
			return failed(err)
		}
		before, after := field(u.final, "old_string"), field(u.final, "new_string")
		s, times := string(old), 1
		if field(u.final, "replace_all") == "true" {
			times = -1
		}
		if !strings.Contains(s, before) {
			return toolOutput{text: "String to replace not found in file.", fails: true}, nil
		}
		out.original = &s
		if err := os.WriteFile(path, []byte(strings.Replace(s, before, after, times)), 0o666); err != nil {
			return failed(err)
		}
	case "Read":
		content, err := os.ReadFile(path)
		if err != nil {
			return failed(err)
		}
		var b strings.Builder
		for i, line := range strings.Split(string(content), "\n") {
			if i > 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "%d\t%s", i+1, line)
		}
		out.text = b.String()
	}
	return out, nil
}
