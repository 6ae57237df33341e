package jail

import (
	"fmt"
	"os"
)

// enterWord is the first argument of this program when it is started to confine
// itself and to become another.
const enterWord = "__sandbox"

// Enter is called first thing in main, with os.Args: where this process was
// started to become a confined program, or the bridge of one, it does that and
// never returns.
func Enter(args []string) {
	var err error
	switch {
	case len(args) >= 5 && args[1] == enterWord:
		err = enter(args[2], args[3], args[4:])
	case len(args) == 3 && args[1] == bridgeWord:
		err = bridge(args[2])
	default:
		return
	}
	fmt.Fprintln(os.Stderr, "sandbox:", err)
	os.Exit(errEnter)
}
