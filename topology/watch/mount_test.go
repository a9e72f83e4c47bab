package watch

import "testing"

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

func FuzzParseMounts(f *testing.F) {
	f.Add(table, "/srv/a.conf")
	f.Add("1 2 3 / /\\04 - x", "/")
	f.Fuzz(func(t *testing.T, text, path string) {
		if m := parseMounts(text).of(path); m.point != "" && !within(path, m.point) {
			t.Errorf("mount point of %q: got %q, which is not above it", path, m.point)
		}
	})
}
