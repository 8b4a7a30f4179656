package rpc

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAnEditorThatNeverMakesProgressTokensKeepsNothingOfATurn(t *testing.T) {
	e := connect(t, "")
	e.initialize(`{"processId":null,"capabilities":{"window":{"workDoneProgress":true},"experimental":{"drawbridge":{"protocol_version":"1.0","capabilities":{"streaming":true}}}}}`)
	e.answer(e.say("warm up"))
	before := runtime.NumGoroutine()
	withdrawn := 0
	for range 20 {
		id := e.say("hello")
		for {
			m := e.message()
			if m.Method == "$/cancelRequest" {
				withdrawn++
			}
			if m.Method == "" && string(m.ID) == fmt.Sprint(id) {
				break
			}
		}
	}
	if withdrawn == 0 {
		t.Error("no request for a token was taken back")
	}
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > before+10; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines before 20 turns, %d after", before, runtime.NumGoroutine())
		}
	}
}

func TestTheCancelButtonOfAnotherSpinnerInterruptsNothing(t *testing.T) {
	e := connect(t, "-- slow --\nmatch slow\ntokens 20 every 10ms\n")
	e.initialize(`{"processId":null,"capabilities":{"experimental":{"drawbridge":{"protocol_version":"1.0","capabilities":{"streaming":true}}}}}`)
	id := e.say("slow")
	e.until(assistantToken)
	e.send(`{"jsonrpc":"2.0","method":"window/workDoneProgress/cancel","params":{"token":"theirs"}}`)
	if m := e.answer(id); !strings.Contains(string(m.Result), `"completed"`) {
		t.Errorf("the turn was ended by a token that is not ours: %s", m.frame)
	}
}

func TestWhoGivesUpWaitingLetsNobodyOvertake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s turnstile
		first, second, third := s.enter(), s.enter(), s.enter()
		given, giveUp := context.WithCancel(context.Background())
		giveUp()
		if second.wait(given) == nil {
			t.Error("the second did not wait")
		}
		go second.leave()
		through := false
		go func() { _ = third.wait(context.Background()); through = true; third.leave() }()
		synctest.Wait()
		if through {
			t.Error("the third went on while the first was at it")
		}
		first.leave()
		synctest.Wait()
		if !through {
			t.Error("the third still waits")
		}
	})
}
