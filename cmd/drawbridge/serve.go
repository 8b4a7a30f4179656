package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"drawbridge/bridge"
	"drawbridge/bridge/guard"
	"drawbridge/bridge/settings"
	"drawbridge/bridge/store"
	"drawbridge/rpc"
	"drawbridge/rpc/stream"

	"github.com/sourcegraph/conc"
	"github.com/spf13/cobra"
	"go.uber.org/zap"
)

func serveCommand(user *userSettings) *cobra.Command {
	var framing, trace string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve an editor on stdin and stdout (also what drawbridge alone does)",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := stream.ParseFraming(framing)
			if err != nil {
				return err
			}
			return serve(cmd, user, f, trace)
		},
	}
	cmd.Flags().StringVar(&framing, "framing", "auto", "how messages are framed: `auto`, lsp (Content-Length headers) or ndjson (one a line)")
	cmd.Flags().StringVar(&trace, "trace", "", "write all messages of both sides to `FILE`, without secrets")
	return cmd
}

// serve wires settings, log, claude and the protocol together, and makes an exit code of how the connection ended.
func serve(cmd *cobra.Command, user *userSettings, framing stream.Framing, tracePath string) error {
	file, set, err := user.resolve()
	if err != nil {
		return err
	}
	state, err := settings.StateDir()
	if err != nil {
		return &exitError{exitFailure, err}
	}
	_ = os.MkdirAll(state, 0o700) // without it there is no log and no cache, and all else works
	log, closeLog := openLog(set, state, cmd.ErrOrStderr())
	defer closeLog()
	log.Info("drawbridge starts", zap.String("version", version), zap.Int("pid", os.Getpid()))

	projects, _ := bridge.ProjectsDir() // without a home there are no transcripts
	options := rpc.Options{Framing: framing, Log: log, Session: sessionDefaults(set), Prewarm: set.Prewarm, Bridge: bridge.Options{
		CLI:             &bridge.Local{Command: set.Claude.Command, Env: set.Claude.Env, StateDir: state, Log: log},
		Log:             log,
		Version:         version,
		AllowBypass:     set.AllowBypassPermissions,
		AllowEnv:        set.AllowEnv,
		MaxPayloadBytes: set.MaxPayloadBytes,
		// The rules are read anew for each decision; what else is in the file counts from the start.
		Settings:     settings.Open(file.Path),
		SettingsFile: file.Path,
		StateDir:     state,
		StorePath:    store.In(state),
		Projects:     projects,
		Audit:        bridge.OpenAudit(filepath.Join(state, auditFile)),
		Protected:    []string{file.Path, state},
	}}
	if tracePath != "" {
		t, err := bridge.OpenTrace(tracePath)
		if err != nil {
			return err
		}
		defer t.Close()
		options.Bridge.Trace = t
		options.Trace = func(d stream.Direction, frame []byte) { t.Editor(d == stream.In, frame) }
	}

	var group conc.WaitGroup
	ctx, cancel := context.WithCancel(cmd.Context())
	group.Go(func() { sweep(ctx, log) })
	exit := rpc.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), options)
	cancel()
	group.Wait()
	log.Info("drawbridge ends", zap.Bool("shutdown", exit.Shutdown), zap.Bool("input_ended", exit.InputEnded), zap.Error(exit.Err))
	return exitOf(exit)
}

// exitOf makes the exit code: 72 and 78 if there never was a usable claude, 0 after shutdown or the end of the input, else 1.
func exitOf(e rpc.Exit) error {
	var unusable *bridge.Error
	switch {
	case errors.As(e.Unusable, &unusable) && unusable.Kind == bridge.KindClaudeTooOld:
		return &exitError{exitTooOld, unusable}
	case unusable != nil:
		return &exitError{exitNoClaude, unusable}
	case e.Shutdown || e.InputEnded:
		return nil
	}
	return &exitError{exitFailure, e.Err}
}

// The look through the process table for what an earlier bridge has left behind comes after the editor has had its first answer,
// and is bounded.
const (
	sweepDelay = 300 * time.Millisecond
	sweepLimit = 10 * time.Second
)

// sweep ends the claude processes of bridges that were killed together with their guards.
func sweep(ctx context.Context, log *zap.Logger) {
	select {
	case <-time.After(sweepDelay):
	case <-ctx.Done():
		return
	}
	ctx, cancel := context.WithTimeout(ctx, sweepLimit)
	defer cancel()
	ended, err := guard.Sweep(ctx)
	if len(ended) > 0 {
		log.Info("ended what a killed bridge had left behind", zap.Ints("pids", ended))
	}
	if err != nil && ctx.Err() == nil {
		log.Warn("looking for what a killed bridge left behind failed", zap.Error(err))
	}
}

// sessionDefaults are the settings that each session begins with.
func sessionDefaults(set *settings.Settings) bridge.SessionOptions {
	return bridge.SessionOptions{Model: set.Model, PermissionMode: set.PermissionMode, PermissionTimeout: set.PermissionTimeout, MinAnswer: set.MinAnswer, IdleStop: set.IdleStop}
}
