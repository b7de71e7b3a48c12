package accept

// loadProgram tries a matrix product on each card, of whole numbers, so that the sum is
// exact in every precision; then all cards multiply for some seconds at once, and the
// rate of each is told in TFLOPS for every half second. It comes on standard input.
const loadProgram = `import sys, time
try:
    import torch
except BaseException as x:
    print("failed", type(x).__name__, str(x).replace("\n", " ")[:200]); sys.exit(3)
print("torch", torch.__version__, torch.version.cuda or "-", flush=True)
try:
    seen = torch.cuda.device_count()
except BaseException as x:
    print("failed", type(x).__name__, str(x).replace("\n", " ")[:200]); sys.exit(3)
print("seen", seen, flush=True)
good = []
for i in range(seen):
    try:
        a = torch.randint(-8, 8, (256, 256)).float()
        b = torch.randint(-8, 8, (256, 256)).float()
        c = (a.to("cuda:%d" % i) @ b.to("cuda:%d" % i)).cpu()
        if torch.equal(c, a @ b):
            print("card", i, "ok", flush=True); good.append(i)
        else:
            print("card", i, "bad the product is wrong", flush=True)
    except BaseException as x:
        print("card", i, "bad", type(x).__name__, str(x).replace("\n", " ")[:200], flush=True)
N = 8192
m = {}
for i in good:
    try:
        with torch.cuda.device(i):
            m[i] = [torch.ones(N, N, dtype=torch.half, device="cuda"), torch.ones(N, N, dtype=torch.half, device="cuda")]
            m[i].append(m[i][0] @ m[i][1])
            torch.cuda.synchronize()
            t = time.time()
            for _ in range(4):
                torch.mm(m[i][0], m[i][1], out=m[i][2])
            torch.cuda.synchronize()
            m[i].append(max(1, min(2000, int(2.0 / max(time.time() - t, 1e-4)))))
    except BaseException as x:
        m.pop(i, None)
        print("noload", i, type(x).__name__, str(x).replace("\n", " ")[:200], flush=True)
print("begin", flush=True)
try:
    stop = time.time() + 60
    for window in range(16):
        marks = {}
        for i in m:
            with torch.cuda.device(i):
                p, q = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                p.record()
                for _ in range(m[i][3]):
                    torch.mm(m[i][0], m[i][1], out=m[i][2])
                q.record()
                marks[i] = (p, q)
        for i in marks:
            with torch.cuda.device(i):
                torch.cuda.synchronize()
                print("rate", i, "%.3f" % (m[i][3] * 2.0 * N ** 3 / (marks[i][0].elapsed_time(marks[i][1]) / 1000) / 1e12), flush=True)
        if time.time() > stop:
            break
except BaseException as x:
    print("failed", type(x).__name__, str(x).replace("\n", " ")[:200], flush=True)
print("end", flush=True)
`

// allReduceProgram adds up 256 MiB over all cards of the machine by torch.distributed
// with NCCL, a process for each card, and tells the bus bandwidth in GB/s as nccl-tests
// reckons it: https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md. No
// child outlives its parent.
const allReduceProgram = `import ctypes, os, signal, socket, sys, time
n = int(sys.argv[1])
try:
    import torch, torch.distributed as dist
except BaseException as x:
    print("failed", type(x).__name__, str(x).replace("\n", " ")[:200]); sys.exit(3)
s = socket.socket(); s.bind(("127.0.0.1", 0)); port = s.getsockname()[1]; s.close()
def work(r):
    torch.cuda.set_device(r)
    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:%d" % port, rank=r, world_size=n)
    y = torch.full((1,), float(r + 1), device="cuda")
    dist.all_reduce(y)
    if y.item() != n * (n + 1) / 2.0:
        raise RuntimeError("the sum is wrong")
    x = torch.zeros(64 * 1024 * 1024, device="cuda")
    for _ in range(2):
        dist.all_reduce(x)
    torch.cuda.synchronize()
    t, k = time.time(), 10
    for _ in range(k):
        dist.all_reduce(x)
    torch.cuda.synchronize()
    if r == 0:
        print("busbw %.4f" % (x.numel() * 4.0 * k / (time.time() - t) * 2 * (n - 1) / n / 1e9), flush=True)
kids = []
for r in range(n):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            ctypes.CDLL(None).prctl(1, 9)
            work(r); code = 0
        except BaseException as x:
            print("failed", type(x).__name__, str(x).replace("\n", " ")[:200], flush=True)
        finally:
            os._exit(code)
    kids.append(pid)
while kids:
    pid, status = os.wait()
    kids.remove(pid)
    if status != 0:
        for k in kids:
            os.kill(k, signal.SIGKILL)
`
