package control

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// maxName is how long the path of a unix socket may be on every system.
const maxName = 100

func listen(dir string) (net.Listener, error) {
	name, done, err := short(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	return net.Listen("unix", name)
}

func dial(ctx context.Context, dir string) (net.Conn, error) {
	name, done, err := short(dir)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "unix", Err: err}
	}
	defer done()
	var d net.Dialer
	return d.DialContext(ctx, "unix", name)
}

// short is a name of the socket in dir that the system accepts. State directories
// can have longer paths than sockets may; those are reached through an open folder.
func short(dir string) (name string, done func(), err error) {
	name = filepath.Join(dir, SocketName)
	if len(name) <= maxName {
		return name, func() {}, nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) + "/" + SocketName, func() { _ = f.Close() }, nil
}
