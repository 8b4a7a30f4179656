package main

import (
	"io"
	"path/filepath"

	"drawbridge/bridge/settings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"gopkg.in/natefinch/lumberjack.v2"
)

// openLog makes the logger: everything from the level of the settings on goes to a file that is capped in size, warnings and worse
// to stderr as well. stdout is the protocol and never logged to. The file is opened with the first line.
func openLog(set *settings.Settings, state string, stderr io.Writer) (*zap.Logger, func()) {
	level, err := zapcore.ParseLevel(set.Log.Level)
	if err != nil {
		level = zapcore.InfoLevel
	}
	path := set.Log.File
	if path == "" {
		path = filepath.Join(state, "drawbridge.log")
	}
	const mib = 1 << 20
	file := &lumberjack.Logger{Filename: path, MaxSize: max(1, int(set.Log.MaxBytes/2/mib)), MaxBackups: 1}
	people := zap.NewDevelopmentEncoderConfig()
	people.TimeKey, people.CallerKey = "", ""
	log := zap.New(zapcore.NewTee(
		zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(file), level),
		zapcore.NewCore(zapcore.NewConsoleEncoder(people), zapcore.Lock(zapcore.AddSync(stderr)), max(level, zapcore.WarnLevel)),
	))
	return log, func() {
		_ = log.Sync()
		_ = file.Close()
	}
}
