package bridge

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const askBash = `{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t1","input":{"command":"ls"}}}`

func TestAnAnswerThatMeetsItsWithdrawalDoesNotStopTheSession(t *testing.T) {
	hang := time.AfterFunc(20*time.Second, func() { panic("the session stands still") })
	defer hang.Stop()
	hostile(t, func(g *stage, cli *hostileCLI) {
		answers := make(chan Decision)
		g.editor.permission = func(context.Context, *Prompt) (Decision, error) { return <-answers, nil }
		answer := g.send(context.Background(), "hello")
		cli.ready()
		message := cli.hears("user").UUID
		cli.begins(message)
		cli.say(askBash)
		synctest.Wait()
		g.session.mu.Lock() // as the pump does when the CLI takes the question back
		answers <- Decision{Decision: "nonsense"}
		for range 10000 {
			runtime.Gosched()
		}
		g.session.withdrawAll("claude")
		g.session.mu.Unlock()
		cli.ends(message)
		<-answer
		want(t, g.editor.told("prompt_resolved"), "prompt_resolved withdrawn by claude")
		cli.die(0)
	})
}

func TestAQuestionThatIsPutTwiceEndsOnce(t *testing.T) {
	hostile(t, func(g *stage, cli *hostileCLI) {
		release := make(chan struct{})
		g.editor.permission = func(ctx context.Context, p *Prompt) (Decision, error) {
			select {
			case <-release:
				return allow(ctx, p)
			case <-ctx.Done():
				return Decision{}, ctx.Err()
			}
		}
		answer := g.send(context.Background(), "hello")
		cli.ready()
		message := cli.hears("user").UUID
		cli.begins(message)
		cli.say(askBash)
		cli.say(askBash)
		synctest.Wait()
		close(release)
		synctest.Wait()
		if told := g.editor.told("prompt_resolved"); strings.Count(told, "allowed") != 1 || len(g.session.Snapshot().Prompts) != 0 {
			t.Errorf("%d are open, told:\n%s", len(g.session.Snapshot().Prompts), told)
		}
		cli.ends(message)
		<-answer
		cli.die(0)
	})
}

func TestAnEditorThatPanicsHasNotSaidYes(t *testing.T) {
	hostile(t, func(g *stage, cli *hostileCLI) {
		g.editor.permission = func(context.Context, *Prompt) (Decision, error) { panic("a defect") }
		answer := g.send(context.Background(), "hello")
		cli.ready()
		message := cli.hears("user").UUID
		cli.begins(message)
		cli.say(askBash)
		synctest.Wait()
		cli.ends(message)
		<-answer
		want(t, g.editor.told("prompt_resolved"), "prompt_resolved denied by error")
		cli.die(0)
	})
}
