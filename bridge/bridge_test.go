package bridge

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/bridge/guard"

	"go.uber.org/goleak"
)

// The test binary is also the guard of the programs that tests start: without this a guard would run the tests.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == guard.Subcommand {
		os.Exit(guard.Main(os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}

// scenes is what the scripted agent knows in these tests.
const scenes = `
-- bash * --
match bash *
bash $1
on deny {
	text Not run: $REASON
}
-- two --
match two
parallel {
	tool Read {"file_path":"/srv/pages/a"}
	ask
	tool Read {"file_path":"/srv/pages/b"}
	ask
}
text Both read.
-- long --
match long
tokens 1000 every 10ms
-- sleep --
match sleep
tool Bash {"command":"sleep 100"}
run
takes 100s
-- question --
match question
question [DB] Which database? | PostgreSQL: server | SQLite: embedded
text You said: $ANSWER
-- plan --
match plan
mode plan
plan 1. do it
text Planned.
-- agent --
match agent
subagent background general-purpose Look around {
	bash touch inside
} then {
	text The agent is back.
}
text Started.
-- fail 400 --
match fail 400
fail 400 "scripted failure"
-- fail 401 --
match fail 401
fail 401 "scripted failure"
-- fail 429 --
match fail 429
fail 429 "scripted failure"
-- fail 500 --
match fail 500
fail 500 "scripted failure"
-- fail 529 --
match fail 529
fail 529 "scripted failure"
-- retry --
match retry
retry 529 2 every 1s
text Through.
-- abandon --
match abandon
text One two three
abandon
text Again.
-- die --
match die
text Some words
die
-- exit --
match exit
stderr the disk is gone
exit 3
-- half --
match half
half
exit 0
-- deaf --
match deaf
ignore interrupt
ignore term
tokens 1000 every 100ms
-- odd --
match odd
raw null
raw [1,2]
raw "text"
raw {"type":"brand_new","x":1}
raw this is no JSON
text Still here.
`

func TestAMessageIsAnsweredAfterEverythingOfItsTurn(t *testing.T) {
	play(t, scenes, func(g *stage) {
		r := g.say("hello there")
		if r.Status != "completed" || r.StopReason != "end_turn" || r.Result == nil || *r.Result != "Echo: hello there" {
			t.Errorf("answer %+v", r)
		}
		if got := g.editor.texts.String(); got != *r.Result {
			t.Errorf("tokens joined are %q, the result is %q", got, *r.Result)
		}
		want(t, g.editor.told("turn", "text", "usage", "state", "answer"), `
state starting
turn_start user
state running
text Echo: hello there
usage
state idle
turn_complete user completed
answer completed end_turn`)
	})
}

func TestFiveMessagesAtOnceGetFiveAnswersInOrder(t *testing.T) {
	play(t, scenes, func(g *stage) {
		var answers []<-chan TurnResult
		for _, text := range []string{"one", "two!", "three", "four", "five"} {
			answers = append(answers, g.send(context.Background(), text))
		}
		for i, word := range []string{"one", "two!", "three", "four", "five"} {
			if r := <-answers[i]; r.Result == nil || *r.Result != "Echo: "+word {
				t.Errorf("answer %d is %+v", i, r)
			}
		}
		told := g.editor.told("turn", "answer")
		if want := strings.Repeat("turn_start user\nturn_complete user completed\nanswer completed end_turn\n", 5); told != want {
			t.Errorf("turns overlap:\n%s", told)
		}
	})
}

func TestTheQueueIsToldAndAMessageCanTakeTheplaceOfAnother(t *testing.T) {
	play(t, scenes, func(g *stage) {
		first := g.send(context.Background(), "long")
		time.Sleep(time.Second)
		const id = "6f1c7c60-0000-4000-8000-000000000001"
		begin := func(text string) <-chan TurnResult {
			turn, err := g.session.Begin(UserMessage{ID: id, Content: quoted(text)})
			if err != nil {
				t.Fatal(err)
			}
			c := make(chan TurnResult, 1)
			go func() { c <- turn.Wait(context.Background()); turn.Answered() }()
			return c
		}
		old, replacement := begin("draft"), begin("final")
		if r := <-old; r.Status != "cancelled" || r.TurnID != "" {
			t.Errorf("the replaced message was answered %+v", r)
		}
		if q := g.session.Snapshot().Queue; len(q) != 1 || string(q[0].Content) != `"final"` {
			t.Errorf("queue %+v", q)
		}
		<-first
		if r := <-replacement; *r.Result != "Echo: final" {
			t.Errorf("answer %+v", r)
		}
		want(t, g.editor.told("queue"), "queue 1\nqueue 1\nqueue 0")
	})
}

func TestAMessageThatMayNotWaitIsRefusedWhileATurnRuns(t *testing.T) {
	play(t, scenes, func(g *stage) {
		running := g.send(context.Background(), "long")
		_, err := g.session.Begin(UserMessage{Content: quoted("now"), Reject: true})
		if e, ok := err.(*Error); !ok || e.Kind != KindTurnRunning || e.Remedy == "" {
			t.Errorf("error %v", err)
		}
		<-running
	})
}

func TestAPermissionQuestionComesAfterItsToolAndBeforeItsResult(t *testing.T) {
	play(t, scenes, func(g *stage) {
		g.editor.permission = allow
		g.say("bash touch a")
		want(t, g.editor.told("tool", "asked", "prompt", "result", "state w", "turn_c"), `
tool Bash
state waiting_permission
asked touch a
prompt_resolved allowed by user
result ok
turn_complete user completed`)
	})
}

func TestADenialReachesTheModelWithItsReason(t *testing.T) {
	play(t, scenes, func(g *stage) {
		g.editor.permission = func(_ context.Context, p *Prompt) (Decision, error) {
			return Decision{Decision: "deny", Message: "use make"}, nil
		}
		if r := g.say("bash touch a"); *r.Result != "Not run: use make" {
			t.Errorf("the model was told %q", *r.Result)
		}
		want(t, g.editor.told("result", "prompt"), "prompt_resolved denied by user\nresult denied")
	})
}

func TestWhatIsNotClearlyAnAllowDenies(t *testing.T) {
	id := ""
	for name, answer := range map[string]func(*Prompt) Decision{
		"nothing":             func(*Prompt) Decision { return Decision{} },
		"an unknown word":     func(p *Prompt) Decision { return Decision{PromptID: p.ID, Decision: "maybe"} },
		"no prompt id":        func(p *Prompt) Decision { return Decision{Decision: "allow"} },
		"the id of another":   func(p *Prompt) Decision { return Decision{PromptID: "p_0", Decision: "allow"} },
		"a scope not offered": func(p *Prompt) Decision { return Decision{PromptID: p.ID, Decision: "allow", Scope: "user"} },
		"rules not offered":   func(p *Prompt) Decision { return Decision{PromptID: p.ID, Decision: "allow", Rules: []string{"Bash"}} },
		"a mode not offered": func(p *Prompt) Decision {
			return Decision{PromptID: p.ID, Decision: "allow", PermissionMode: "bypassPermissions"}
		},
		"a member more": func(p *Prompt) Decision {
			return Decision{PromptID: p.ID, Decision: "allow", UpdatedInput: json.RawMessage(`{"command":"touch a","x":1}`)}
		},
		"a member less": func(p *Prompt) Decision {
			return Decision{PromptID: p.ID, Decision: "allow", UpdatedInput: json.RawMessage(`{}`)}
		},
		"another type of member": func(p *Prompt) Decision {
			return Decision{PromptID: p.ID, Decision: "allow", UpdatedInput: json.RawMessage(`{"command":1}`)}
		},
		"no JSON": func(p *Prompt) Decision {
			return Decision{PromptID: p.ID, Decision: "allow", UpdatedInput: json.RawMessage(`{`)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, scenes, func(g *stage) {
				g.editor.permission = func(_ context.Context, p *Prompt) (Decision, error) { id = p.ID; return answer(p), nil }
				g.say("bash touch a")
				want(t, g.editor.told("notice", "prompt", "result"), "notice warning answer_refused\nprompt_resolved denied by error\nresult denied")
			})
		})
	}
	if !strings.HasPrefix(id, "p_") {
		t.Errorf("prompt id %q", id)
	}
}

func TestAnEditedCommandIsTheOneThatRuns(t *testing.T) {
	play(t, scenes, func(g *stage) {
		g.editor.permission = func(_ context.Context, p *Prompt) (Decision, error) {
			return Decision{PromptID: p.ID, Decision: "allow", UpdatedInput: json.RawMessage(`{"command":"touch b"}`)}, nil
		}
		g.say("bash touch a")
		want(t, g.editor.told("prompt", "input", "result"), "prompt_resolved allowed by user\ninput {\"command\":\"touch b\"}\nresult ok")
	})
}

func TestTwoQuestionsAreOpenAtOnceAndAnsweredInReverse(t *testing.T) {
	play(t, scenes, func(g *stage) {
		second := make(chan struct{})
		g.editor.permission = func(_ context.Context, p *Prompt) (Decision, error) {
			if strings.Contains(p.View.Title, "/srv/pages/a") {
				<-second
			} else {
				defer close(second)
			}
			g.editor.log("answered %s", p.View.Title)
			return Decision{PromptID: p.ID, Decision: "allow"}, nil
		}
		g.say("two")
		told := g.editor.told("answered", "prompt")
		if a, b := strings.Index(told, "/srv/pages/a"), strings.Index(told, "/srv/pages/b"); a < 0 || b < 0 || b > a {
			t.Errorf("not answered in reverse:\n%s", told)
		}
		if strings.Count(told, "prompt_resolved allowed") != 2 {
			t.Errorf("not both resolved:\n%s", told)
		}
	})
}

func TestAQuestionThatNobodyAnswersInTimeIsNoUsersNo(t *testing.T) {
	playWith(t, scenes, SessionOptions{PermissionTimeout: time.Minute}, func(g *stage) {
		r := g.say("bash touch a")
		if !strings.Contains(*r.Result, "not a refusal by the user") {
			t.Errorf("the model was told %q", *r.Result)
		}
		want(t, g.editor.told("prompt"), "prompt_resolved denied by timeout")
	})
}

func TestInterruptWhileStreamingCancelsAndTheNextMessageWorks(t *testing.T) {
	play(t, scenes, func(g *stage) {
		answer := g.send(context.Background(), "long")
		time.Sleep(time.Second)
		if err := g.session.Interrupt(context.Background(), false); err != nil {
			t.Fatal(err)
		}
		if r := <-answer; r.Status != "cancelled" || r.StopReason != "cancelled" {
			t.Errorf("answer %+v", r)
		}
		if r := g.say("next"); *r.Result != "Echo: next" {
			t.Errorf("answer %+v", r)
		}
		if told := g.editor.told("discarded", "notice"); told != "" {
			t.Errorf("also told: %s", told)
		}
	})
}

func TestInterruptDuringAPermissionQuestionWithdrawsItBeforeTheTurnEnds(t *testing.T) {
	play(t, scenes, func(g *stage) {
		answer := g.send(context.Background(), "bash touch a")
		synctest.Wait()
		time.Sleep(time.Second)
		_ = g.session.Interrupt(context.Background(), false)
		<-answer
		want(t, g.editor.told("asked", "taken", "prompt", "state i", "turn_c", "answer"), `
asked touch a
state interrupting
taken back
prompt_resolved withdrawn by interrupt
state idle
turn_complete user cancelled
answer cancelled cancelled`)
	})
}

func TestInterruptAtOnceAfterAMessageCancelsIt(t *testing.T) {
	for _, delay := range []time.Duration{0, time.Microsecond, time.Millisecond, 2 * time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond} {
		play(t, scenes, func(g *stage) {
			g.say("warm up")
			answer := g.send(context.Background(), "long")
			time.Sleep(delay)
			_ = g.session.Interrupt(context.Background(), false)
			if r := <-answer; r.Status != "cancelled" {
				t.Errorf("after %v: %+v", delay, r)
			}
			if r := g.say("next"); *r.Result != "Echo: next" {
				t.Errorf("after %v, next: %+v", delay, r)
			}
		})
	}
}

func TestAMessageInterruptedBeforeClaudeIsUpNeverReachesIt(t *testing.T) {
	play(t, scenes, func(g *stage) {
		answer := g.send(context.Background(), "long")
		_ = g.session.Interrupt(context.Background(), false)
		if r := <-answer; r.Status != "cancelled" || r.TurnID != "" {
			t.Errorf("answer %+v", r)
		}
		if told := g.editor.told("turn"); told != "" {
			t.Errorf("a turn was told of: %s", told)
		}
	})
}

func TestTheEndOfTheRequestsContextCancelsItsTurn(t *testing.T) {
	play(t, scenes, func(g *stage) {
		ctx, cancel := context.WithCancel(context.Background())
		answer := g.send(ctx, "sleep")
		queued, cancelQueued := context.WithCancel(context.Background())
		waiting := g.send(queued, "waits")
		time.Sleep(time.Second)
		cancelQueued()
		if r := <-waiting; r.Status != "cancelled" || r.TurnID != "" {
			t.Errorf("queued: %+v", r)
		}
		cancel()
		if r := <-answer; r.Status != "cancelled" || r.TurnID == "" {
			t.Errorf("running: %+v", r)
		}
	})
}

func TestInterruptCanTakeTheQueueWithIt(t *testing.T) {
	play(t, scenes, func(g *stage) {
		running, waiting := g.send(context.Background(), "long"), g.send(context.Background(), "waits")
		time.Sleep(time.Second)
		_ = g.session.Interrupt(context.Background(), true)
		if r := <-waiting; r.Status != "cancelled" {
			t.Errorf("queued: %+v", r)
		}
		if r := <-running; r.Status != "cancelled" {
			t.Errorf("running: %+v", r)
		}
	})
}

func TestAClaudeThatIgnoresInterruptAndTermIsKilledAndStartsAgain(t *testing.T) {
	play(t, scenes, func(g *stage) {
		answer := g.send(context.Background(), "deaf")
		time.Sleep(time.Second)
		began := time.Now()
		go func() { _ = g.session.Interrupt(context.Background(), false) }()
		if r := <-answer; r.Status != "cancelled" {
			t.Errorf("answer %+v", r)
		}
		if took := time.Since(began); took > 8*time.Second {
			t.Errorf("it took %v", took)
		}
		want(t, g.editor.told("notice"), "notice warning interrupt_forced")
		if r := g.say("next"); *r.Result != "Echo: next" {
			t.Errorf("next: %+v", r)
		}
		if args := strings.Join(g.cli.starts[1].Argv, " "); !strings.Contains(args, "--resume=") {
			t.Errorf("not resumed: %s", args)
		}
	})
}

func TestQuestionsAreAnsweredOrDeclined(t *testing.T) {
	play(t, scenes, func(g *stage) {
		g.editor.question = func(_ context.Context, p *Prompt) (Answers, error) {
			return Answers{Answers: map[string]json.RawMessage{"Which database?": json.RawMessage(`"SQLite"`)}}, nil
		}
		if r := g.say("question"); !strings.Contains(*r.Result, "SQLite") {
			t.Errorf("answered: %+v", *r.Result)
		}
		g.editor.question = func(context.Context, *Prompt) (Answers, error) { return Answers{Declined: true}, nil }
		g.say("question")
		want(t, g.editor.told("prompt", "state waiting"), `
state waiting_answer
prompt_resolved answered by user
state waiting_answer
prompt_resolved declined by user`)
	})
}

func TestAnApprovedPlanLeavesPlanMode(t *testing.T) {
	play(t, scenes, func(g *stage) {
		g.editor.permission = func(_ context.Context, p *Prompt) (Decision, error) {
			if p.Plan == "" || len(p.Modes) != 2 {
				t.Errorf("prompt %+v", p)
			}
			return Decision{PromptID: p.ID, Decision: "allow", PermissionMode: "acceptEdits"}, nil
		}
		g.say("plan")
		if mode := *g.session.Snapshot().Update.PermissionMode; mode != "acceptEdits" {
			t.Errorf("mode %s\n%s", mode, g.editor.told("mode"))
		}
	})
}

func TestABackgroundAgentAsksAndReportsBetweenTurns(t *testing.T) {
	play(t, scenes, func(g *stage) {
		release := make(chan struct{})
		g.editor.permission = func(_ context.Context, p *Prompt) (Decision, error) {
			<-release
			return Decision{PromptID: p.ID, Decision: "allow"}, nil
		}
		if r := g.say("agent"); r.Status != "completed" {
			t.Errorf("first: %+v", r)
		}
		time.Sleep(time.Second)
		if got := len(g.session.Snapshot().Prompts); got != 1 {
			t.Fatalf("%d prompts are open after the first answer:\n%s", got, g.editor.told())
		}
		close(release)
		time.Sleep(time.Second)
		if r := g.say("next"); *r.Result != "Echo: next" {
			t.Errorf("next: %+v", r)
		}
		want(t, g.editor.told("turn", "prompt"), `
turn_start user
turn_complete user completed
prompt_resolved allowed by user
turn_start background
turn_complete background completed
turn_start user
turn_complete user completed`)
	})
}

func TestAFailedTurnSaysWhyAndWhatToDo(t *testing.T) {
	for code, kind := range map[string]string{"401": KindNotAuthenticated, "400": KindInvalidRequest, "500": KindServerError, "529": KindOverloaded, "429": KindRateLimited} {
		play(t, scenes, func(g *stage) {
			r := g.say("fail " + code)
			if r.Status != "failed" || r.StopReason != "error" || r.Error == nil || r.Error.Kind != kind || r.Error.Remedy == "" || r.Error.Message == "" {
				t.Errorf("%s: %+v %+v", code, r, r.Error)
			}
			if r := g.say("next"); r.Status != "completed" {
				t.Errorf("%s, next: %+v", code, r)
			}
		})
	}
}

func TestRetriesAreShownAndEnd(t *testing.T) {
	play(t, scenes, func(g *stage) {
		g.say("retry")
		want(t, g.editor.told("state"), "state starting\nstate running\nstate retrying\nstate retrying\nstate running\nstate idle")
	})
}

func TestTextThatTheModelTookBackIsDiscarded(t *testing.T) {
	play(t, scenes, func(g *stage) {
		g.say("abandon")
		want(t, g.editor.told("discarded", "text"), "discarded 0\ntext Again.")
	})
}

func TestTheDeathOfClaudeFailsTheTurnHonestlyAndTheNextMessageGoesOn(t *testing.T) {
	for scene, says := range map[string]string{
		"die":  "signal killed",
		"exit": "exited with status 3: the disk is gone",
		"half": "exited with status 0",
	} {
		play(t, scenes, func(g *stage) {
			r := g.say(scene)
			if r.Status != "failed" || r.Error == nil || r.Error.Kind != KindClaudeExited || !strings.Contains(r.Error.Message, says) {
				t.Errorf("%s: %+v %v", scene, r, r.Error)
			}
			if state := g.session.Snapshot().State; state.State != "exited" || state.Remedy == "" {
				t.Errorf("%s: state %+v", scene, state)
			}
			if r := g.say("next"); r.Status != "completed" {
				t.Errorf("%s, next: %+v %v", scene, r, r.Error)
			}
		})
	}
}

func TestAClaudeThatNeverGetsReadyIsGivenUp(t *testing.T) {
	play(t, "ignore initialize\n", func(g *stage) {
		r := g.say("hello")
		if r.Status != "failed" || r.Error == nil || !strings.Contains(r.Error.Message, "did not answer") {
			t.Errorf("%+v %v", r, r.Error)
		}
	})
}

func TestAMissingClaudeIsToldWithEachMessage(t *testing.T) {
	play(t, scenes, func(g *stage) {
		g.cli.broken = fail(KindClaudeNotFound, "not found")
		for range 2 {
			if r := g.say("hello"); r.Status != "failed" || r.Error.Kind != KindClaudeNotFound || r.Error.Remedy == "" {
				t.Errorf("%+v %v", r, r.Error)
			}
		}
		if g.bridge.Usable() == nil {
			t.Error("the bridge thinks that it has a usable claude")
		}
		want(t, g.editor.told("notice"), "notice error claude_not_found")
	})
}

func TestOddLinesAreLivedWith(t *testing.T) {
	play(t, scenes, func(g *stage) {
		if r := g.say("odd"); *r.Result != "Still here." {
			t.Errorf("%+v", r)
		}
		if n := g.bridge.Health().Counters.UnknownTypes["brand_new"]; n != 1 {
			t.Errorf("counted %d", n)
		}
	})
}

func TestAFlagThatClaudeDoesNotKnowIsLeftOut(t *testing.T) {
	play(t, "unknown --replay-user-messages\n", func(g *stage) {
		if r := g.say("hello"); r.Status != "completed" {
			t.Errorf("%+v %v", r, r.Error)
		}
		want(t, g.editor.told("notice"), "notice warning flag_dropped")
	})
}

func TestCloseAnswersEverythingAndTakesPromptsBack(t *testing.T) {
	play(t, scenes, func(g *stage) {
		running, waiting := g.send(context.Background(), "bash touch a"), g.send(context.Background(), "waits")
		time.Sleep(time.Second)
		_ = g.session.Close(context.Background())
		for _, c := range []<-chan TurnResult{running, waiting} {
			if r := <-c; r.Status != "cancelled" {
				t.Errorf("%+v", r)
			}
		}
		want(t, g.editor.told("prompt"), "prompt_resolved withdrawn by session_closed")
		if _, err := g.bridge.Session(g.session.ID()); err == nil {
			t.Error("the session is still there")
		}
	})
}

func TestSettingsOfASessionAreKeptForTheNextRun(t *testing.T) {
	play(t, scenes, func(g *stage) {
		ctx := context.Background()
		if mode, err := g.session.SetPermissionMode(ctx, "plan"); err != nil || mode != "plan" {
			t.Errorf("%s %v", mode, err)
		}
		g.say("hello")
		if mode, err := g.session.SetPermissionMode(ctx, "acceptEdits"); err != nil || mode != "acceptEdits" {
			t.Errorf("%s %v", mode, err)
		}
		if model, err := g.session.SetModel(ctx, "opus"); err != nil || model == "" {
			t.Errorf("%s %v", model, err)
		}
		if _, err := g.session.SetPermissionMode(ctx, "bypassPermissions"); err == nil || err.(*Error).Kind != KindNotPermitted {
			t.Errorf("bypass: %v", err)
		}
		g.say("die")
		g.say("again")
		args := strings.Join(g.cli.starts[1].Argv, " ")
		if !strings.Contains(args, "--permission-mode=acceptEdits") || !strings.Contains(args, "--model=") {
			t.Errorf("restarted with %s", args)
		}
	})
}

func TestSilenceIsToldAfterAWhile(t *testing.T) {
	play(t, "-- quiet --\nmatch quiet\ndelay 35s\ntext Done.\n", func(g *stage) {
		g.say("quiet")
		want(t, g.editor.told("state running"), "state running\nstate running 20000\nstate running 25000\nstate running 30000\nstate running")
	})
}
