package chat

import (
	"os"

	"golang.org/x/sys/windows"
)

// makeRaw has every key come at once and without echo, in the sequences of a terminal, and has the console understand those that we
// write (Windows 10 1809).
func makeRaw(in, out *os.File) (restore func(), err error) {
	i, o := windows.Handle(in.Fd()), windows.Handle(out.Fd())
	var input, output uint32
	if err := windows.GetConsoleMode(i, &input); err != nil {
		return nil, err
	}
	if err := windows.GetConsoleMode(o, &output); err != nil {
		return nil, err
	}
	restore = func() {
		_ = windows.SetConsoleMode(i, input)
		_ = windows.SetConsoleMode(o, output)
	}
	const cooked = windows.ENABLE_ECHO_INPUT | windows.ENABLE_LINE_INPUT | windows.ENABLE_PROCESSED_INPUT
	if err := windows.SetConsoleMode(i, input&^cooked|windows.ENABLE_VIRTUAL_TERMINAL_INPUT); err != nil {
		return nil, err
	}
	if err := windows.SetConsoleMode(o, output|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING); err != nil {
		restore()
		return nil, err
	}
	return restore, nil
}

// terminalSize is 0 if f is no console.
func terminalSize(f *os.File) (columns, rows int) {
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info) != nil {
		return 0, 0
	}
	return int(info.Window.Right-info.Window.Left) + 1, int(info.Window.Bottom-info.Window.Top) + 1
}
