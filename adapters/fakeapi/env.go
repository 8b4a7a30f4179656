package fakeapi

import (
	"os"
	"runtime"
)

// Env is the whole environment for a claude CLI that shall talk to s and to nothing else, with home as its home directory.
// Nothing is inherited but PATH (and what no Windows program starts without), so that neither a real key nor a proxy of
// the machine reaches the CLI.
func (s *Server) Env(home string) []string {
	env := []string{
		"HOME=" + home,
		"PATH=" + os.Getenv("PATH"),
		"ANTHROPIC_BASE_URL=" + s.URL(),
		"ANTHROPIC_API_KEY=sk-ant-fake",
		"CLAUDE_CODE_MAX_RETRIES=1", // ten retries would make a refused key take three minutes
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
	}
	if runtime.GOOS == "windows" {
		env = append(env, "USERPROFILE="+home)
		for _, name := range []string{"SystemRoot", "TEMP", "TMP", "PATHEXT", "ComSpec"} {
			if v, ok := os.LookupEnv(name); ok {
				env = append(env, name+"="+v)
			}
		}
	}
	return env
}
