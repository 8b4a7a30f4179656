package adapters

// Oldest is the first version that drawbridge works with, and Tested the newest one it is tested with. What is newer is likely to
// work: readers are tolerant, and what is new is left out.
var (
	Oldest = Version{Major: 1, Minor: 0, Patch: 20}
	Tested = Version{Major: 2, Minor: 1, Patch: 329}
)
