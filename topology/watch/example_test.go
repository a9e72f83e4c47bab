package watch_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/actord/actord/topology/watch"
)

func Example() {
	dir, err := os.MkdirTemp("", "watch")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "application.conf")
	os.WriteFile(name, []byte("actord { }"), 0o600)

	w, err := watch.New([]string{name}, watch.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()

	os.WriteFile(name+".new", []byte("actord { actors { } }"), 0o600)
	os.Rename(name+".new", name)
	change := <-w.Changes()
	fmt.Println("changed:", filepath.Base(change.Files[0]))
	// Output: changed: application.conf
}
