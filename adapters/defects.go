package adapters

// Defect is a defect of Claude Code that a bridge has to live with, from its changelog and from what was measured.
type Defect struct {
	Since Version // the first version that can have it; zero: the oldest
	Fixed Version // the first version without it, or the first that was seen without it
	What  string
	Does  string // what drawbridge does about it; empty if nothing can be done
}

// Defects lists what is known of a version, the latest fixed last. A version that cannot be read has none that are known.
func Defects(version string) []Defect {
	v, ok := ParseVersion(version)
	if !ok {
		return nil
	}
	var list []Defect
	for _, d := range defects {
		if v.Compare(d.Since) >= 0 && v.Compare(d.Fixed) < 0 {
			list = append(list, d)
		}
	}
	return list
}

// The versions that brought what a defect is in: the control protocol, hooks over it, questions to the user.
var (
	control   = Version{Major: 1, Patch: 60}
	hooks     = Version{Major: 1, Patch: 110}
	questions = Version{Major: 2, Minor: 0, Patch: 1}
)

func fixed(minor, patch int) Version { return Version{Major: 2, Minor: minor, Patch: patch} }

// defects are in the order in which they were fixed.
var defects = []Defect{
	{Fixed: Version{Major: 1, Patch: 60}, What: "A control request ends the process.",
		Does: "None is sent. An interrupt ends the process, and the next message resumes the conversation."},
	{Fixed: Version{Major: 1, Patch: 110}, What: "A user message with several content blocks, or an image, ends the process.",
		Does: "Texts are joined into one; an image is refused before it is sent."},
	{Since: control, Fixed: fixed(1, 17), What: "A permission request does not say which tool use it is about.",
		Does: "It is found by the tool's name and input."},
	{Since: control, Fixed: fixed(1, 17), What: "After a plan is approved the session stays in plan mode.",
		Does: "The mode is sent along with the approval."},
	{Fixed: fixed(1, 94), What: "Characters of several bytes are damaged where two chunks of the input meet.",
		Does: "Each message is one write, and lines are decoded whole."},
	{Since: hooks, Fixed: fixed(1, 110), What: "An input that a hook has changed is not checked against the deny rules again.",
		Does: "An edited input goes through the rules of drawbridge once more."},
	{Fixed: fixed(1, 112), What: "A failing API is asked again for three minutes without a word.",
		Does: "After 20 s without a line status_change says how long it has been quiet."},
	{Fixed: fixed(1, 112), What: "An unknown message on its input, or an empty line, ends the process.",
		Does: "Nothing else than user messages, control requests it knows and answers to its own is ever written."},
	{Since: control, Fixed: fixed(1, 112), What: "A control request that it does not know is never answered.",
		Does: "Those it knows are listed by version; each has a time limit."},
	{Fixed: fixed(1, 126), What: "A malformed tool name among parallel calls hangs the turn.",
		Does: "The silence is told (quiet_ms); an interrupt ends the turn, by force after 5 s."},
	{Since: control, Fixed: fixed(1, 128), What: "Prompts for Bash commands come without a rule that could be saved.",
		Does: "drawbridge proposes rules of its own."},
	{Fixed: fixed(1, 132), What: "A session in plan mode is resumed in the default mode.",
		Does: "The mode is set again after each resume."},
	{Since: questions, Fixed: fixed(1, 136), What: "Answers to a question with several choices are dropped if they are sent as a list.",
		Does: "They are sent joined."},
	{Fixed: fixed(1, 147), What: "A slash command that does not exist is ignored in silence."},
	{Fixed: fixed(1, 153), What: "The process does not end with its input.",
		Does: "It gets a second, then TERM, then KILL."},
	{Since: control, Fixed: fixed(1, 162), What: "An interrupt at the very beginning of a turn is dropped.",
		Does: "It is sent again until the turn ends."},
	{Since: questions, Fixed: fixed(1, 181), What: "The user's own text beside several choices is dropped.",
		Does: "It is sent among the choices."},
	{Since: questions, Fixed: fixed(1, 200), What: "A question that stays unanswered for long is passed over.",
		Does: "The prompt is taken back when that happens."},
	{Since: control, Fixed: fixed(1, 206), What: "An MCP server as permission prompt tool crashes at a cold start.",
		Does: "Permission is asked over the control channel."},
	{Fixed: fixed(1, 208), What: "A blank line ends the session; large tool results fill the memory.",
		Does: "No blank line is ever written; output is read at once."},
	{Fixed: fixed(1, 212), What: "In plan mode Bash commands that change files run without a question."},
	{Fixed: fixed(1, 212), What: "TERM leaves the commands behind that are running.",
		Does: "A guard ends everything that Claude Code has started."},
	{Fixed: fixed(1, 214), What: "Output is cut off at the end if it is read slowly.",
		Does: "Output is read at once, whatever the editor does."},
	{Since: control, Fixed: fixed(1, 223), What: "Tabs and invisible characters hide a part of a command in the prompt.",
		Does: "drawbridge shows every character, from the input itself."},
	{Fixed: fixed(1, 225), What: "One rejected request can replace a long-lived login.",
		Does: "The turn fails with not_authenticated and says how to log in."},
	{Fixed: fixed(1, 236), What: "TERM writes denials into the conversation that nobody gave.",
		Does: "The turn is interrupted before the process is ended."},
}
