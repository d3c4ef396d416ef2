// A filter for system calls (seccomp, classic BPF) that every process in the sandbox runs under. It closes what
// namespaces leave open:
// - The session keyring is the server's own: nothing of it can be read, and nothing put into it.
// - A file that a server run as root leaves behind belongs to root outside, too: it gets no set-user-ID bit. Calls whose
//   mode cannot be seen by a filter (openat2, io_uring) look as on a kernel that does not have them.
// - A network namespace does not hold every kind of socket: AF_VSOCK reaches the host of a virtual machine from any of
//   them. Only the families that it does hold are allowed.
// - With the machine's network come its abstract sockets (X11, D-Bus): no Unix-domain sockets then, other than pairs of
//   streams. A datagram socket of a pair can still send to any address.
import { Buffer } from "node:buffer";

interface SyscallNumbers {
  /** AUDIT_ARCH_… */
  readonly arch: number;
  /** System call numbers; 0 if there is none. */
  readonly chmod: number;
  readonly fchmod: number;
  readonly fchmodat: number;
  readonly open: number;
  readonly creat: number;
  readonly openat: number;
  readonly mknod: number;
  readonly mknodat: number;
  readonly addKey: number;
  readonly requestKey: number;
  readonly keyctl: number;
  readonly socket: number;
  readonly socketpair: number;
  readonly socketcall: number;
}

/** Newer calls have one number everywhere. */
const ioUringSetup = 425;
const openat2 = 437;
const fchmodat2 = 452;

const x64: SyscallNumbers = {
  ...{ arch: 0xc000003e, chmod: 90, fchmod: 91, fchmodat: 268, open: 2, creat: 85, openat: 257 },
  ...{ mknod: 133, mknodat: 259, addKey: 248, requestKey: 249, keyctl: 250, socket: 41 },
  ...{ socketpair: 53, socketcall: 0 },
};
const ia32: SyscallNumbers = {
  ...{ arch: 0x40000003, chmod: 15, fchmod: 94, fchmodat: 306, open: 5, creat: 8, openat: 295 },
  ...{ mknod: 14, mknodat: 297, addKey: 286, requestKey: 287, keyctl: 288, socket: 359 },
  ...{ socketpair: 360, socketcall: 102 },
};
const arm64: SyscallNumbers = {
  ...{ arch: 0xc00000b7, chmod: 0, fchmod: 52, fchmodat: 53, open: 0, creat: 0, openat: 56 },
  ...{ mknod: 0, mknodat: 33, addKey: 217, requestKey: 218, keyctl: 219, socket: 198 },
  ...{ socketpair: 199, socketcall: 0 },
};
const arm: SyscallNumbers = {
  ...{ arch: 0x40000028, chmod: 15, fchmod: 94, fchmodat: 333, open: 5, creat: 8, openat: 322 },
  ...{ mknod: 14, mknodat: 324, addKey: 309, requestKey: 310, keyctl: 311, socket: 281 },
  ...{ socketpair: 288, socketcall: 0 },
};

/** The machine's own calls, and those of older programs that its kernel runs, too. */
const families: Readonly<Partial<Record<string, readonly SyscallNumbers[]>>> = {
  x64: [x64, ia32],
  ia32: [x64, ia32],
  arm64: [arm64, arm],
  arm: [arm64, arm],
};

export interface FilterOptions {
  /** Whether files may get a set-group-ID bit, which directories have a use for. */
  readonly setGroupId: boolean;
  readonly unixSockets: boolean;
}

/** The program that the kernel runs for each call; undefined if the numbers of this machine's calls are unknown. */
export function callFilter(options: FilterOptions, arch: string = process.arch): Buffer | undefined {
  const family = families[arch];
  if (family === undefined) return undefined;
  const program = [load(offsetOf.arch)];
  for (const calls of family) {
    const section = sectionOf(calls, options);
    program.push(jump(jeq, calls.arch, 0, section.length), ...section);
  }
  return encode([...program, refuse(errno.ENOSYS)]);
}

type Instruction = readonly [code: number, jt: number, jf: number, k: number];

const errno = { EPERM: 1, ENOSYS: 38, EOPNOTSUPP: 95, EAFNOSUPPORT: 97 } as const;
const offsetOf = { number: 0, arch: 4, argument: (n: number) => 16 + 8 * n } as const;
const [jeq, jge, jset] = [0x15, 0x35, 0x45];
const allow: Instruction = [0x06, 0, 0, 0x7fff0000];
/** AF_INET, AF_INET6, AF_NETLINK */
const networkFamilies = [2, 10, 16];
const unixFamily = 1;
/** Of SOCK_DGRAM, and of SOCK_RAW, which means the same for Unix-domain sockets. */
const datagramBit = 2;
/** O_CREAT, or the bit of O_TMPFILE. */
const makesFile = 0x40 | 0x400000;
const x32Bit = 0x40000000;

function load(offset: number): Instruction {
  return [0x20, 0, 0, offset];
}

function jump(code: number, k: number, jt: number, jf: number): Instruction {
  return [code, jt, jf, k];
}

function refuse(error: number): Instruction {
  return [0x06, 0, 0, 0x00050000 | error];
}

function sectionOf(calls: SyscallNumbers, { setGroupId, unixSockets }: FilterOptions): Instruction[] {
  const bits = setGroupId ? 0o4000 : 0o6000;
  const whereMode = (n: number) => [
    load(offsetOf.argument(n)),
    jump(jset, bits, 0, 1),
    refuse(errno.EPERM),
    allow,
  ];
  const whereMade = (flags: number, mode: number) => [
    load(offsetOf.argument(flags)),
    jump(jset, makesFile, 1, 0),
    allow,
    ...whereMode(mode),
  ];
  const families = unixSockets ? [...networkFamilies, unixFamily] : networkFamilies;
  const whereFamily = [
    load(offsetOf.argument(0)),
    ...families.map((family, i) => jump(jeq, family, families.length - i, 0)),
    refuse(errno.EAFNOSUPPORT),
    allow,
  ];
  const whereStream = [
    load(offsetOf.argument(1)),
    jump(jset, datagramBit, 0, 1),
    refuse(errno.EOPNOTSUPP),
    allow,
  ];
  const rules: readonly (readonly [number, readonly Instruction[]])[] = [
    // The arguments of socketcall are in memory, where a filter cannot see them.
    ...[calls.addKey, calls.requestKey, calls.keyctl, calls.socketcall, ioUringSetup, openat2].map(
      call => [call, [refuse(errno.ENOSYS)]] as const,
    ),
    ...[calls.chmod, calls.fchmod, calls.creat, calls.mknod].map(call => [call, whereMode(1)] as const),
    ...[calls.fchmodat, fchmodat2, calls.mknodat].map(call => [call, whereMode(2)] as const),
    [calls.open, whereMade(1, 2)],
    [calls.openat, whereMade(2, 3)],
    [calls.socket, whereFamily],
    ...(unixSockets ? [] : [[calls.socketpair, whereStream] as const]),
  ];
  const checks = rules
    .filter(([call]) => call !== 0)
    .flatMap(([call, body]) => [jump(jeq, call, 0, body.length), ...body]);
  // The x32 calls of an x64 kernel have other numbers, and hardly a program uses them.
  const x32 = calls === x64 ? [jump(jge, x32Bit, 0, 1), refuse(errno.ENOSYS)] : [];
  return [load(offsetOf.number), ...x32, ...checks, allow];
}

/** As `struct sock_filter[]`. All of these machines are little-endian. */
function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(8 * program.length);
  program.forEach(([code, jt, jf, k], i) => {
    bytes.writeUInt16LE(code, 8 * i);
    bytes.writeUInt8(jt, 8 * i + 2);
    bytes.writeUInt8(jf, 8 * i + 3);
    bytes.writeUInt32LE(k >>> 0, 8 * i + 4);
  });
  return bytes;
}
