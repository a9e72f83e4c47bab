// Command actord runs a system of actors that is written down in application.conf.
package main

import (
	"os"

	"github.com/actord/actord"
)

func main() { os.Exit(actord.Main(os.Args[1:])) }
