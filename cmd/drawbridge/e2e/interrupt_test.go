//go:build linux

package e2e

import (
	"path/filepath"
	"testing"
	"time"
)

func TestInterruptWhileStreaming(t *testing.T) {
	eachVersion(t, all, func(t *testing.T, version string) {
		w := enter(t, version)
		answer := w.send("slow: 2000 5")
		w.await(0, "the first tokens", method("assistant_token"))
		w.interrupt()
		if r := w.await1(answer); r.Status != "cancelled" {
			t.Errorf("the answer is %v", r)
		}
		if len(w.since(0, "message_discarded")) > 0 {
			t.Error("text the user has seen before the interrupt was discarded")
		}
		if r := w.say("next"); r.Result != "Echo: next" {
			t.Errorf("next: %v", r)
		}
	})
}

func TestInterruptWhileAPromptIsOpenTakesItBackFirst(t *testing.T) {
	eachVersion(t, all, func(t *testing.T, version string) {
		w := enter(t, version)
		w.permission = never
		answer := w.send("bash: touch never")
		w.await(0, "the prompt", method("permission_request"))
		from := w.mark()
		w.interrupt()
		if r := w.await1(answer); r.Status != "cancelled" {
			t.Errorf("the answer is %v", r)
		}
		var order []string
		for _, m := range w.since(from, "prompt_resolved", "turn_complete") {
			order = append(order, m.method+" "+m.get("outcome")+m.get("status"))
		}
		if len(order) != 2 || order[0] != "prompt_resolved withdrawn" || order[1] != "turn_complete cancelled" {
			t.Errorf("order: %v", order)
		}
		if r := w.say("next"); r.Status != "completed" {
			t.Errorf("next: %v", r)
		}
		if w.exists("never") {
			t.Error("the command ran")
		}
	})
}

func TestInterruptWhileBashRunsLeavesNoProcess(t *testing.T) {
	eachVersion(t, all, func(t *testing.T, version string) {
		w := enter(t, version)
		mark := nextMark()
		answer := w.send("bash: touch started; sleep " + mark)
		w.awaitFile("started")
		w.interrupt()
		if r := w.await1(answer); r.Status != "cancelled" {
			t.Errorf("the answer is %v", r)
		}
		w.gone(mark, 5*time.Second)
		if r := w.say("next"); r.Status != "completed" {
			t.Errorf("next: %v", r)
		}
	})
}

func TestInterruptAtOnceAfterAMessage(t *testing.T) {
	eachVersion(t, all, func(t *testing.T, version string) {
		w := enter(t, version)
		w.completed(w.say("warm up"))
		delays := []time.Duration{0, time.Millisecond, 2 * time.Millisecond, 10 * time.Millisecond}
		for i := range 20 {
			from := w.mark()
			answer := w.send("slow: 400 10")
			if d := delays[i%len(delays)]; d > 0 {
				time.Sleep(d)
			} else {
				w.await(from, "the message to arrive", method("turn_start"))
			}
			w.interrupt()
			select {
			case r := <-answer:
				if r.Status != "cancelled" && r.err == nil {
					// An interrupt that overtook its message has nothing to end: that is right, too.
					if len(w.since(from, "turn_start")) == 0 || w.tokens(from) != "" && r.Status == "completed" {
						t.Fatalf("round %d: %v", i, r)
					}
				}
			case <-time.After(30 * time.Second):
				t.Fatalf("round %d: no answer", i)
			}
			if r := w.say("next"); r.Result != "Echo: next" {
				t.Fatalf("round %d, next: %v", i, r)
			}
		}
		if n := len(w.since(0, "notice")); n > 0 {
			t.Errorf("%d notices", n)
		}
	})
}

func TestInterruptBeforeTheFirstMessageIsWithClaude(t *testing.T) {
	eachVersion(t, all, func(t *testing.T, version string) {
		w := enter(t, version)
		answer := w.send("slow: 400 10")
		w.await(0, "the start", state("starting"))
		w.interrupt()
		if r := w.await1(answer); r.Status != "cancelled" {
			t.Errorf("the answer is %v", r)
		}
		if r := w.say("next"); r.Result != "Echo: next" {
			t.Errorf("next: %v", r)
		}
	})
}

func TestInterruptDuringASubagent(t *testing.T) {
	w := enter(t, newest)
	mark := nextMark()
	answer := w.send("taskfg: bash: touch started; sleep " + mark)
	w.awaitFile("started")
	w.interrupt()
	if r := w.await1(answer); r.Status != "cancelled" {
		t.Errorf("the answer is %v", r)
	}
	w.gone(mark, 5*time.Second)
	if r := w.say("write: " + filepath.Join(w.project, "after") + "|x"); r.Status != "completed" || !w.exists("after") {
		t.Errorf("next: %v", r)
	}
}
