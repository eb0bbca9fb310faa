// Writes a heap profile of itself: four value types of which one is the default, numeric labels, a mapping, addresses,
// and calls that the compiler inlined into their callers, so that one location has several lines.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
)

var kept [][]byte

func inner(size int) []byte { return make([]byte, size) }

func middle(size int) { kept = append(kept, inner(size)) }

//go:noinline
func outer(rounds, size int) {
	for i := 0; i < rounds; i++ {
		middle(size)
	}
}

//go:noinline
func recurse(depth, size int) {
	if depth > 0 {
		recurse(depth-1, size)
		return
	}
	outer(3, size)
}

//go:noinline
func forgotten(rounds int) {
	for i := 0; i < rounds; i++ {
		garbage := inner(100000 + i)
		garbage[0] = 1
	}
}

func main() {
	runtime.MemProfileRate = 1
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go_heap OUT")
		os.Exit(2)
	}
	outer(50, 4096)
	outer(7, 1<<20)
	recurse(5, 333)
	forgotten(20)
	runtime.GC()
	out, err := os.Create(os.Args[1])
	if err == nil {
		err = pprof.Lookup("allocs").WriteTo(out, 0)
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	runtime.KeepAlive(kept)
}
