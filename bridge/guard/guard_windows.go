package guard

import (
	"context"
	"errors"
	"os"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Main is the guard. args are the handles of lifeline and report, the working directory (empty: as it is) and the argv
// of the CLI. The guard puts itself into a Job Object whose only handle it has; the CLI is born into it and cannot leave, and
// the kernel ends whatever is in it when the handle goes, however the guard ended. It returns the CLI's exit code, 126
// if the directory and 127 if the program was at fault, 2 if this is no call by Start.
func Main(args []string) int {
	if len(args) < 4 {
		os.Stderr.WriteString("drawbridge " + Subcommand + " is started by drawbridge, not by hand\n")
		return 2
	}
	lifeline, report := inherited(args[0]), inherited(args[1])
	if lifeline == nil || report == nil {
		return 2
	}
	dir, argv := args[2], args[3:]
	refuse := func(op string, err error, code int) int {
		var errno syscall.Errno
		errors.As(err, &errno)
		report.Write(appendReport(op, int(errno)))
		return code
	}
	if err := enterJob(); err != nil {
		return refuse(opExec, err, 127)
	}
	if dir != "" {
		if err := os.Chdir(dir); err != nil {
			return refuse(opChdir, err, 126)
		}
	}
	cli, err := os.StartProcess(argv[0], argv, &os.ProcAttr{
		Env:   os.Environ(),
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys:   &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}, // what CTRL_BREAK is sent to
	})
	if err != nil {
		return refuse(opExec, err, 127)
	}
	// As long as the guard had a copy of the CLI's stdio, the bridge would see no end of stdout when the CLI is gone.
	os.Stdin.Close()
	os.Stdout.Close()
	os.Stderr.Close()
	report.Write(appendReport(opStarted, cli.Pid))

	go func() { // ends with the process
		var b [1]byte
		for {
			if n, err := lifeline.Read(b[:]); err != nil || n == 0 {
				cli.Kill() // Main returns, and the job takes the rest
				return
			}
			if b[0] == terminate {
				windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(cli.Pid))
			}
		}
	}()
	state, err := cli.Wait()
	if err != nil {
		return 1
	}
	report.Write(appendReport(opExit, state.ExitCode()))
	return state.ExitCode()
}

// inherited is a handle that came down as a number.
func inherited(arg string) *os.File {
	h, err := strconv.ParseUint(arg, 10, 64)
	if err != nil {
		return nil
	}
	windows.SetHandleInformation(windows.Handle(h), windows.HANDLE_FLAG_INHERIT, 0) // and goes no further
	return os.NewFile(uintptr(h), "guard")
}

// enterJob puts this process into a job that ends with it. The handle is left open for the kernel to close.
func enterJob() error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return err
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
		LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
	}}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		return err
	}
	return windows.AssignProcessToJobObject(job, windows.CurrentProcess())
}

func executable() (string, error) { return os.Executable() }

// startGuard gives the guard a console of its own that nobody sees: an editor's bridge often has none, a console program
// without one opens a window, and a CTRL_BREAK reaches only those who share one.
func startGuard(self string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
	attr.Sys.CreationFlags = windows.CREATE_NO_WINDOW
	return os.StartProcess(self, argv, attr)
}

// handDown marks the two handles as inheritable. Only the guard gets them: the syscall package hands a child a list.
func handDown(attr *os.ProcAttr, lifeline, report *os.File) (args []string) {
	attr.Sys = &syscall.SysProcAttr{}
	for _, f := range []*os.File{lifeline, report} {
		h := f.Fd()
		windows.SetHandleInformation(windows.Handle(h), windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT)
		attr.Sys.AdditionalInheritedHandles = append(attr.Sys.AdditionalInheritedHandles, syscall.Handle(h))
		args = append(args, strconv.FormatUint(uint64(h), 10))
	}
	return args
}

type cliID struct{ pid int }

func identify(pid int) cliID { return cliID{pid} }

func becomeReaper()    {} // there are no parents to lose
func forgetGuard(int)  {}
func endOrphans(cliID) {} // the job has ended them
func wake(*os.Process) {}

func ownStart() uint64 {
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user) != nil {
		return 0
	}
	return uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime)
}

// Sweep finds nothing on Windows: a job leaves nothing behind.
func Sweep(context.Context) (ended []int, err error) { return nil, nil }
