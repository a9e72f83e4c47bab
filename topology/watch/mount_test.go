package watch

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

const table = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:26 / /srv rw - nfs4 server:/export rw
31 22 0:27 / /srv/local rw - ext4 /dev/sdb1 rw
32 22 8:1 /x /etc/app/application.conf rw - ext4 /dev/sda1 rw
33 22 0:28 / /with\040space rw - fuse.sshfs host: rw
34 22 0:29 / /over rw - tmpfs tmpfs rw
35 34 0:30 / /over rw - overlay overlay rw
a line that is none
`

func TestMountOf(t *testing.T) {
	tests := []struct {
		name, path   string
		remote, file bool
	}{
		{name: "the root is local", path: "/etc/other.conf"},
		{name: "a network mount is remote", path: "/srv/a.conf", remote: true},
		{name: "the longest mount point wins", path: "/srv/local/a.conf"},
		{name: "a longer name is not below a mount point", path: "/srvother/a.conf"},
		{name: "a mounted file is a mount of its own", path: "/etc/app/application.conf", file: true},
		{name: "a mount point may have a space", path: "/with space/a.conf", remote: true},
		{name: "the last of two mounts on one point counts", path: "/over/a.conf", remote: true},
		{name: "a relative path is on no mount", path: "a.conf"},
	}
	mounts := parseMounts(table)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := mounts.of(tt.path)
			if got.remote != tt.remote || got.file != tt.file {
				t.Errorf("mount of %s: got %+v, want remote %v, file %v", tt.path, got, tt.remote, tt.file)
			}
		})
	}
}

func TestMountsWithoutNotificationsArePolledMoreOften(t *testing.T) {
	tests := []struct {
		name   string
		mount  mount
		slow   bool
		warned int
	}{
		{name: "a local mount is left to its notifications", mount: mount{point: "/"}},
		{name: "a remote mount is polled", mount: mount{point: "/srv", remote: true}, slow: true},
		{name: "a mounted file is polled, and told once", mount: mount{point: "/srv/a.conf", file: true}, slow: true, warned: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			n := &notifier{log: slog.New(slog.NewTextHandler(&out, nil)), warned: map[string]bool{}}
			for range 3 {
				if got := n.judge("/srv/a.conf", tt.mount); got != tt.slow {
					t.Errorf("slow: got %v, want %v", got, tt.slow)
				}
			}
			if got := strings.Count(out.String(), "mount its directory"); got != tt.warned {
				t.Errorf("warnings: got %d, want %d", got, tt.warned)
			}
		})
	}
}

func FuzzParseMounts(f *testing.F) {
	f.Add(table, "/srv/a.conf")
	f.Add("1 2 3 / /\\04 - x", "/")
	f.Fuzz(func(t *testing.T, text, path string) {
		if m := parseMounts(text).of(path); m.point != "" && !within(path, m.point) {
			t.Errorf("mount point of %q: got %q, which is not above it", path, m.point)
		}
	})
}
