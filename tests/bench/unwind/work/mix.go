// Goroutines, garbage collection, system-stack switches. For ever.
package main

import (
	"encoding/json"
	"regexp"
	"sort"
	"strings"
)

type row struct {
	A int
	B string
	C []float64
}

func work(out chan int) {
	pattern := regexp.MustCompile("([a-z]+)([0-9]+)")
	for {
		rows := []row{}
		for i := 0; i < 100; i++ {
			rows = append(rows, row{i, strings.Repeat("x", i%7), []float64{1, 2, float64(i)}})
		}
		text, _ := json.Marshal(rows)
		var back []row
		json.Unmarshal(text, &back)
		sort.Slice(back, func(i, j int) bool { return back[i].B < back[j].B })
		pattern.MatchString("abc123def456")
		out <- len(back)
	}
}

func main() {
	out := make(chan int, 100)
	for i := 0; i < 3; i++ {
		go work(out)
	}
	for n := 0; ; {
		n += <-out
	}
}
