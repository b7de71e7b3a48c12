package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"curfew/internal/ctl"
	"curfew/internal/doctor"
	"curfew/internal/store"
)

// daemonPatience is how long the daemon has to answer.
const daemonPatience = 10 * time.Second

func (x *examination) daemon(ctx context.Context) []doctor.Result {
	client, err := x.p.daemon()
	if err != nil {
		return []doctor.Result{doctor.SilentDaemon(err)}
	}
	ctx, cancel := context.WithTimeout(ctx, daemonPatience)
	defer cancel()
	var s ctl.Status
	err = x.p.progress(ctx, wordAsking, func() (err error) {
		s, err = client.Status(ctx)
		return err
	})
	switch {
	case errors.Is(err, ctl.ErrNoDaemon):
		return []doctor.Result{doctor.NoDaemon()}
	case err != nil:
		x.answers = true // it is there
		return []doctor.Result{doctor.SilentDaemon(err)}
	}
	x.answers = true
	return doctor.Daemon(s, version)
}

func (x *examination) state(ctx context.Context) []doctor.Result {
	path := strings.TrimPrefix(x.cfg.State, "sqlite:")
	folder := filepath.Dir(path)
	s := doctor.State{Path: path, User: x.p.user(), Folder: mayWrite(nearestFolder(folder))}
	info, err := os.Stat(path)
	switch {
	case err == nil:
		s.There, s.Size, s.Mode, s.Owner = true, info.Size(), info.Mode(), owner(info)
		s.Writable = mayWrite(path) && mayWrite(folder)
		if log, err := os.Stat(path + "-wal"); err == nil {
			s.Size += log.Size()
		}
	case !errors.Is(err, os.ErrNotExist):
		s.There, s.Err = true, err
	}
	if s.There && s.Err == nil {
		s.Err = x.p.progress(ctx, wordDoctorState, func() error {
			in, err := store.Inspect(ctx, x.cfg.State, x.p.now())
			s.Problems, s.Version, s.Known, x.requests = in.Problems, in.Version, in.Known, in.Requests
			return err
		})
	}
	held, file, err := store.Held(x.cfg.State)
	if s.Held = held && err == nil; s.Held {
		s.Holder = holder(proc, file)
	}
	free, err := freeSpace(nearestFolder(folder))
	return append(doctor.StateResults(s, x.answers), doctor.Disk(folder, free, err))
}

// nearestFolder gives the folder, or the one above it that is there.
func nearestFolder(folder string) string {
	for {
		if _, err := os.Stat(folder); err == nil || filepath.Dir(folder) == folder {
			return folder
		}
		folder = filepath.Dir(folder)
	}
}

// mayWrite asks the system, without writing anything.
func mayWrite(path string) bool {
	const write = 2
	return syscall.Access(path, write) == nil
}

func freeSpace(folder string) (uint64, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err != nil {
		return 0, err
	}
	return uint64(fs.Bavail) * uint64(fs.Bsize), nil //nolint:unconvert // the types differ between systems
}

func owner(info os.FileInfo) string {
	at, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	id := strconv.FormatUint(uint64(at.Uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

// holder names the process that has a file locked, where the system tells.
func holder(proc, file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return ""
	}
	at, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	locks, err := os.Open(filepath.Join(proc, "locks"))
	if err != nil {
		return ""
	}
	defer func() { _ = locks.Close() }()
	// 1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF
	for lines := bufio.NewScanner(locks); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) < 6 || f[1] != "FLOCK" || !strings.HasSuffix(f[5], ":"+strconv.FormatUint(at.Ino, 10)) {
			continue
		}
		name, err := os.ReadFile(filepath.Join(proc, f[4], "comm"))
		if err != nil {
			return "pid " + f[4]
		}
		return fmt.Sprintf("%s (pid %s)", strings.TrimSpace(string(name)), f[4])
	}
	return ""
}

func (x *examination) ping(ctx context.Context) []doctor.Result {
	address := x.cfg.Ping.Listen
	if address == "" {
		return nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	switch {
	case err == nil:
		_ = l.Close() // nobody was let in
		return []doctor.Result{doctor.Ping(address, doctor.PortFree, nil, x.answers)}
	case errors.Is(err, syscall.EADDRINUSE):
		return []doctor.Result{doctor.Ping(address, doctor.PortTaken, err, x.answers)}
	}
	return []doctor.Result{doctor.Ping(address, doctor.PortRefused, err, x.answers)}
}

// box looks at the machine that curfew runs in, where one is declared.
func (x *examination) box(context.Context) []doctor.Result {
	_, m, ok := x.cfg.Local()
	if !ok {
		return nil
	}
	b := doctor.Box{Name: m.Name, Stop: m.Stop, Home: x.p.env("HOME")}
	b.Cards, _ = exec.LookPath("nvidia-smi") // not found: nowhere
	for _, program := range doctor.Programs(m.Stop) {
		if _, err := exec.LookPath(program); err != nil {
			b.Missing = append(b.Missing, program)
		}
	}
	b.Writable = b.Home != "" && mayWrite(b.Home)
	return doctor.BoxResults(b)
}
