//go:build linux

package e2e

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"drawbridge/rpc"
	"drawbridge/rpc/editor"
)

// The fault suite with the real binary and the real CLI: random messages, interrupts and answers, and kill -9 of the bridge, the guard
// or the CLI at random moments. Nothing may be left, everything is answered, and what still lives goes on.
//
//	make chaos
//	go test ./cmd/drawbridge/e2e -run TestChaos -chaos.seed 4711
var (
	chaosSeed = flag.Uint64("chaos.seed", 0, "play the one script of this seed")
	chaosTime = flag.Duration("chaos.time", 10*time.Second, "play random scripts for so long")
)

func TestChaos(t *testing.T) {
	if *chaosSeed != 0 {
		chaos(t, *chaosSeed)
		return
	}
	seed := rand.Uint64() >> 16
	scripts := 0
	for deadline := time.Now().Add(*chaosTime); time.Now().Before(deadline) && !t.Failed(); scripts++ {
		seed++
		t.Run(fmt.Sprint(seed), func(t *testing.T) { chaos(t, seed) })
	}
	t.Logf("%d scripts", scripts)
}

// chaos plays the script of a seed.
func chaos(t *testing.T, seed uint64) {
	dice := rand.New(rand.NewPCG(seed, 2))
	w := outside(t, []string{newest, "2.0.0"}[dice.IntN(2)])
	answers := dice.IntN(4)
	w.permission = func(ctx context.Context, p rpc.PermissionParams) (editor.Decision, error) {
		switch answers {
		case 0:
			return never(ctx, p)
		case 1:
			return editor.Decision{PromptID: p.PromptID, Decision: editor.Deny, Message: "no"}, nil
		case 2:
			select {
			case <-ctx.Done():
				return editor.Decision{}, errWithdrawn
			case <-time.After(300 * time.Millisecond):
			}
		}
		return w.allow(p), nil
	}
	w.start(ownGroup)
	mark := nextMark()
	defer func() {
		if t.Failed() {
			t.Logf("chaos: replay with -run TestChaos -chaos.seed %d", seed)
		}
	}()
	words := []string{"hello", "bash: sleep " + mark + " & sleep " + mark, "bash: echo " + mark, "hello again"}
	var open []<-chan turn
	for range 1 + dice.IntN(4) {
		open = append(open, w.send(words[dice.IntN(len(words))]))
		time.Sleep(time.Duration(dice.IntN(800)) * time.Millisecond)
		if dice.IntN(3) == 0 {
			w.interrupt()
		}
	}
	time.Sleep(time.Duration(dice.IntN(1500)) * time.Millisecond)

	bridge := w.process.Process.Pid
	switch victim := dice.IntN(6); victim {
	case 0, 1: // the bridge, alone or with its group
		if victim == 1 {
			bridge = -bridge
		}
		w.kill(bridge)
		w.gone(mark, 2*time.Second)
		w.empty(2 * time.Second)
		return
	case 2, 3: // the guard, or the CLI
		if guards := w.childrenOf(bridge); len(guards) > 0 {
			pid := guards[0]
			if below := w.childrenOf(pid); victim == 3 && len(below) > 0 {
				pid = below[0]
			}
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
		}
	}
	if err := w.client.Call(w.ctx, "interrupt", map[string]string{"queued": "cancel"}, nil); err != nil {
		t.Errorf("interrupt: %v", err)
	}
	for i, c := range open {
		if r := w.await1(c); r.err != nil || !strings.Contains("completed cancelled failed", r.Status) || r.Status == "failed" && r.Error == nil {
			t.Errorf("answer %d is %v", i, r)
		}
	}
	r := w.say("hello")
	for tries := 0; tries < 2 && r.Status == "failed"; tries++ { // of a kill that was not noticed yet, or a conversation never written
		r = w.say("hello")
	}
	if r.Status != "completed" || r.Result != "Echo: hello" {
		t.Errorf("the session does not go on: %v", r)
	}
	w.lawful()
	if err := w.client.Shutdown(w.ctx); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	w.gone(mark, 2*time.Second)
	w.empty(2 * time.Second)
}

// lawful checks what was told: turns pair up and do not overlap, no token stands outside a turn, and each prompt has one end.
func (w *world) lawful() {
	w.Helper()
	turn := ""
	ends := map[string]int{}
	for _, m := range w.since(0) {
		switch m.method {
		case "turn_start":
			if turn != "" {
				w.Errorf("%s: a turn starts while another runs", w.version)
			}
			turn = m.get("turn_id")
		case "turn_complete":
			if turn != m.get("turn_id") {
				w.Errorf("%s: turn %s is complete, %q runs", w.version, m.get("turn_id"), turn)
			}
			turn = ""
		case "assistant_token", "thinking_token":
			if turn == "" {
				w.Errorf("%s: a token without a turn", w.version)
			}
		case "permission_request":
			ends[m.get("prompt_id")] += 0
		case "prompt_resolved":
			ends[m.get("prompt_id")]++
		}
	}
	for id, n := range ends {
		if n != 1 {
			w.Errorf("%s: prompt %s has ended %d times", w.version, id, n)
		}
	}
}
