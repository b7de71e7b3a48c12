// Bench measures what curfew takes on this machine, and writes the page that says
// so beside what was aimed at. Run it by make bench, on a machine that does
// nothing else; no test depends on its figures.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:forbidigo // this is main
	}
}

// runs are the benchmarks of the page and how often each is repeated.
func runs() [][]string {
	return [][]string{
		{"-bench", "^Benchmark(Pass|Think|StartToFirstPass)$", "-count", "5", "./internal/app"},
		{"-bench", "^BenchmarkScale$", "-benchtime", "1x", "-count", "1", "./internal/app"},
		{"-bench", "^BenchmarkIdle$", "-count", "3", "./cmd/curfew"},
		{"-bench", "^BenchmarkSSH$", "-count", "1", "./cmd/curfew"},
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("name the page to write: go run ./internal/bench docs/performance.md")
	}
	measured := measurements{}
	for _, of := range runs() {
		if err := measured.run(ctx, of); err != nil {
			return err
		}
	}
	page, err := page(measured, machine(), time.Now()) //nolint:forbidigo // the page bears the date
	if err != nil {
		return err
	}
	return os.WriteFile(args[0], []byte(page), 0o644)
}

// measurements are the readings by benchmark and unit, one for each repetition.
type measurements map[string][]float64

// run runs benchmarks, shows what they print and takes their readings.
func (m measurements) run(ctx context.Context, of []string) error {
	args := append([]string{"test", "-run", "^$", "-benchmem", "-timeout", "30m"}, of...)
	test := exec.CommandContext(ctx, "go", args...)
	test.Stderr = os.Stderr
	out, err := test.StdoutPipe()
	if err != nil {
		return err
	}
	if err := test.Start(); err != nil {
		return err
	}
	readErr := m.read(io.TeeReader(out, os.Stdout))
	if err := errors.Join(readErr, test.Wait()); err != nil {
		return fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// read takes the readings from lines such as
//
//	BenchmarkPass/instances=1000/policies=10-8   120   9876543 ns/op   12 B/op
func (m measurements) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := strings.TrimSuffix(fields[0], "-"+strconv.Itoa(runtime.GOMAXPROCS(0)))
		for n := 2; n+1 < len(fields); n += 2 {
			v, err := strconv.ParseFloat(fields[n], 64)
			if err != nil {
				return fmt.Errorf("%q: %w", lines.Text(), err)
			}
			m[name+" "+fields[n+1]] = append(m[name+" "+fields[n+1]], v)
		}
	}
	return lines.Err()
}

// machine describes what it is measured on.
func machine() string {
	model := procValue("/proc/cpuinfo", "model name")
	if model == "" {
		model = runtime.GOARCH
	}
	text := fmt.Sprintf("%s, %d cores", model, runtime.NumCPU())
	if kb, err := strconv.Atoi(strings.TrimSuffix(procValue("/proc/meminfo", "MemTotal"), " kB")); err == nil {
		text += fmt.Sprintf(", %.0f GB of memory", float64(kb)/(1<<20))
	}
	return text + ", " + runtime.GOOS + "/" + runtime.GOARCH + ", " + runtime.Version()
}

// procValue gives the first value of a key in a file of /proc; "" where there is
// none.
func procValue(file, key string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
