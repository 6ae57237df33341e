package sandbox

// GitConfig is what commits are made with.
type GitConfig struct {
	Home string // where the person's own configuration of git is; "" for none
}
