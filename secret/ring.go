package secret

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/cleveragents/agents/fault"
)

// service is what our entries in a keyring are called.
const service = "cleveragents"

// Ring is a keyring. A call may take as long as a person needs to unlock it.
// Get and Delete return ErrNoEntry where there is nothing.
type Ring interface {
	Get(service, user string) (string, error)
	Set(service, user, value string) error
	Delete(service, user string) error
}

// ErrNoEntry is what a Ring returns for a user that it does not hold.
var ErrNoEntry = errors.New("the keyring holds no such entry")

// SystemRing returns the keyring of the operating system. It starts nothing and
// asks nobody until it is used.
func SystemRing() Ring { return systemRing{} }

type systemRing struct{}

func (systemRing) Get(service, user string) (string, error) {
	if err := reachable(); err != nil {
		return "", err
	}
	v, err := keyring.Get(service, user)
	return v, entryError(err)
}

func (systemRing) Set(service, user, value string) error {
	if err := reachable(); err != nil {
		return err
	}
	return keyring.Set(service, user, value)
}

func (systemRing) Delete(service, user string) error {
	if err := reachable(); err != nil {
		return err
	}
	return entryError(keyring.Delete(service, user))
}

func entryError(err error) error {
	if errors.Is(err, keyring.ErrNotFound) {
		return ErrNoEntry
	}
	return err
}

// reachable looks for a session bus where the library will look. Without one
// the library would start dbus-launch, a daemon that stays behind and inherits
// our whole environment, keys included.
func reachable() error {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return nil
	}
	if a := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); a != "" && a != "autolaunch:" {
		return nil
	}
	run := "/run/user/" + strconv.Itoa(os.Getuid())
	for _, name := range []string{"/bus", "/dbus-session"} {
		if _, err := os.Stat(run + name); err == nil {
			return nil
		}
	}
	return errors.New("there is no session bus (D-Bus) here")
}

// ringCalls makes calls to a keyring that cannot be cancelled end in time. A
// call that is given up runs on, with its result thrown away; as no other is
// begun before it ends, there is at most one.
type ringCalls struct {
	ring Ring
	wait time.Duration
	turn chan struct{}
}

func newRingCalls(r Ring, wait time.Duration) *ringCalls {
	return &ringCalls{ring: r, wait: wait, turn: make(chan struct{}, 1)}
}

func (r *ringCalls) get(ctx context.Context, user string) (string, error) {
	v, err := r.call(ctx, func() (string, error) { return r.ring.Get(service, user) })
	if errors.Is(err, ErrNoEntry) {
		return "", fault.New(fault.Unavailable, "the keyring holds no key for %s", user).
			WithCode("NoKey").WithHint("put it there under the service %s and the user %s; or use key_env: NAME or key_file: PATH instead of keyring: true", service, user)
	}
	return v, err
}

func (r *ringCalls) set(ctx context.Context, user, value string) error {
	_, err := r.call(ctx, func() (string, error) { return "", r.ring.Set(service, user, value) })
	return err
}

func (r *ringCalls) delete(ctx context.Context, user string) error {
	_, err := r.call(ctx, func() (string, error) { return "", r.ring.Delete(service, user) })
	if errors.Is(err, ErrNoEntry) {
		return fault.New(fault.NotFound, "the keyring holds no key for %s", user)
	}
	return err
}

type answer struct {
	value string
	err   error
}

func (r *ringCalls) call(ctx context.Context, do func() (string, error)) (string, error) {
	if r.ring == nil {
		return "", noRing(errors.New("there is none here"))
	}
	limit := time.NewTimer(r.wait)
	defer limit.Stop()
	select {
	case r.turn <- struct{}{}:
	case <-limit.C:
		return "", r.late()
	case <-ctx.Done():
		return "", fmt.Errorf("keyring: %w", ctx.Err())
	}
	done := make(chan answer, 1)
	go func() {
		v, err := guarded(do)
		<-r.turn
		done <- answer{v, err}
	}()
	select {
	case a := <-done:
		if a.err != nil && !errors.Is(a.err, ErrNoEntry) {
			return "", noRing(a.err)
		}
		return a.value, a.err
	case <-limit.C:
		return "", r.late()
	case <-ctx.Done():
		return "", fmt.Errorf("keyring: %w", ctx.Err())
	}
}

// guarded turns a panic into an error: the library trusts what comes over the
// bus to be of the types that it expects.
func guarded(do func() (string, error)) (v string, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = "", errors.New("it answered with something unexpected")
		}
	}()
	return do()
}

func (r *ringCalls) late() error {
	return noRing(fmt.Errorf("no answer within %s; it may be locked and waiting for its password", r.wait))
}

func noRing(err error) error {
	return fault.New(fault.Unavailable, "keyring: %w", err).
		WithHint("use key_env: NAME or key_file: PATH (a file with mode 0600) instead of keyring: true")
}
