// The filter for system calls, run by a small interpreter for machines that this one is not, and by the kernel in the
// sandbox for this one.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SandboxFound } from "../../src/engine/shell/policy.ts";
import { findSandbox, openSandbox } from "../../src/engine/shell/sandbox.ts";
import { callFilter } from "../../src/engine/shell/seccomp.ts";
import { Fixture } from "./fixture.ts";

const allowed = "allowed";
const [EPERM, ENOSYS, EOPNOTSUPP, EAFNOSUPPORT] = [1, 38, 95, 97];

/** What a filter says to a call: the error, or that it is allowed. */
function verdict(program: Buffer, arch: number, call: number, args: readonly number[]): number | string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call, 0);
  data.writeUInt32LE(arch, 4);
  for (const [i, value] of args.entries()) data.writeBigUInt64LE(BigInt(value), 16 + 8 * i);
  let accumulator = 0;
  for (let at = 0; at < program.length / 8; at++) {
    const code = program.readUInt16LE(8 * at);
    const [jt, jf, k] = [
      program[8 * at + 2] ?? 0,
      program[8 * at + 3] ?? 0,
      program.readUInt32LE(8 * at + 4),
    ];
    if (code === 0x20) accumulator = data.readUInt32LE(k);
    else if (code === 0x06) return k === 0x7fff0000 ? allowed : k & 0xffff;
    else if (code === 0x15) at += accumulator === k ? jt : jf;
    else if (code === 0x35) at += accumulator >= k ? jt : jf;
    else if (code === 0x45) at += (accumulator & k) !== 0 ? jt : jf;
    else throw new Error(`instruction ${code}`);
  }
  throw new Error("the program has no end");
}

const machines = {
  x64: {
    ...{ arch: 0xc000003e, read: 0, mkdir: 83, keys: [248, 249, 250], socket: 41, pair: 53 },
    modes: { 90: 1, 91: 1, 268: 2, 85: 1, 133: 1, 259: 2, 452: 2 },
    opens: { 2: 1, 257: 2 },
  },
  ia32: {
    ...{ arch: 0x40000003, read: 3, mkdir: 39, keys: [286, 287, 288], socket: 359, pair: 360 },
    modes: { 15: 1, 94: 1, 306: 2, 8: 1, 14: 1, 297: 2, 452: 2 },
    opens: { 5: 1, 295: 2 },
  },
  arm64: {
    ...{ arch: 0xc00000b7, read: 63, mkdir: 34, keys: [217, 218, 219], socket: 198, pair: 199 },
    modes: { 52: 1, 53: 2, 33: 2, 452: 2 },
    opens: { 56: 2 },
  },
  arm: {
    ...{ arch: 0x40000028, read: 3, mkdir: 39, keys: [309, 310, 311], socket: 281, pair: 288 },
    modes: { 15: 1, 94: 1, 333: 2, 8: 1, 14: 1, 324: 2, 452: 2 },
    opens: { 5: 1, 322: 2 },
  },
};

describe.each(Object.entries(machines))(
  "the filter for %s",
  (name, { arch, read, mkdir, keys, modes, opens, socket, pair }) => {
    const build = (options: { setGroupId: boolean; unixSockets: boolean }) => {
      const program = callFilter(options, name);
      if (program === undefined) throw new Error("no filter");
      return (call: number, ...args: number[]) => verdict(program, arch, call, args);
    };
    const strict = build({ setGroupId: false, unixSockets: false });
    const lenient = build({ setGroupId: true, unixSockets: true });

    it("lets ordinary calls pass", () => {
      for (const filter of [strict, lenient]) {
        expect(filter(read, 0, 0, 0o6000)).toBe(allowed);
        expect(filter(mkdir, 0, 0o777)).toBe(allowed);
        expect(filter(pair, 1, 1)).toBe(allowed);
        expect(filter(socket, 2, 1)).toBe(allowed);
      }
    });

    it("has no keyrings, nor calls whose modes cannot be seen", () => {
      for (const call of [...keys, 425, 437]) expect(strict(call, 0, 0, 0)).toBe(ENOSYS);
    });

    it("gives no file a set-user-ID bit, in whichever way it is made", () => {
      const at = (index: number, mode: number) =>
        Array.from({ length: 4 }, (_, i) => (i === index ? mode : 0));
      for (const [call, index] of Object.entries(modes)) {
        expect(strict(Number(call), ...at(index, 0o4755)), call).toBe(EPERM);
        expect(strict(Number(call), ...at(index, 0o2755)), call).toBe(EPERM);
        expect(lenient(Number(call), ...at(index, 0o2755)), call).toBe(allowed);
        expect(lenient(Number(call), ...at(index, 0o4755)), call).toBe(EPERM);
        expect(strict(Number(call), ...at(index, 0o1777)), call).toBe(allowed);
      }
      for (const [call, index] of Object.entries(opens)) {
        const opened = (flags: number, mode: number) =>
          strict(Number(call), ...at(index, flags).slice(0, index + 1), mode);
        for (const flags of [0x40, 0x41, 0x400000]) expect(opened(flags, 0o4755), call).toBe(EPERM);
        expect(opened(0x41, 0o755), call).toBe(allowed);
        expect(opened(0, 0o4755), call).toBe(allowed); // whatever an unused register holds
      }
    });

    it("has no Unix-domain sockets where the machine's network is shared", () => {
      expect(strict(socket, 1, 1)).toBe(EAFNOSUPPORT);
      expect(lenient(socket, 1, 1)).toBe(allowed);
    });

    it("has no pair that could send to any Unix-domain socket there", () => {
      for (const flags of [0, 0x800, 0x80000]) {
        for (const type of [2, 3]) expect(strict(pair, 1, type | flags)).toBe(EOPNOTSUPP);
        for (const type of [1, 5]) expect(strict(pair, 1, type | flags)).toBe(allowed);
        expect(lenient(pair, 1, 2 | flags)).toBe(allowed);
      }
    });

    it("has only the families of sockets that a network namespace holds", () => {
      const families = Array.from({ length: 64 }, (_, family) => family);
      const allowedBy = (filter: typeof strict) =>
        families.filter(family => filter(socket, family, 1) === allowed);
      expect(allowedBy(strict)).toEqual([2, 10, 16]);
      expect(allowedBy(lenient)).toEqual([1, 2, 10, 16]);
      if (name === "ia32") for (const filter of [strict, lenient]) expect(filter(102, 1)).toBe(ENOSYS);
    });
  },
);

it("nothing passes under the numbers of another machine", () => {
  const program = callFilter({ setGroupId: false, unixSockets: false }, "x64");
  expect(program && verdict(program, 0xc00000b7, 63, [])).toBe(ENOSYS);
  expect(program && verdict(program, machines.x64.arch, 0x40000000 + 90, [0, 0o4755])).toBe(ENOSYS);
  expect(callFilter({ setGroupId: false, unixSockets: false }, "riscv64")).toBeUndefined();
});

const found = await findSandbox();
const missing = "missing" in found;
if (missing) console.warn("SKIPPED, the filter in the kernel: there is no sandbox");

describe.skipIf(missing)("in the sandbox", () => {
  let fixture: Fixture;
  beforeEach(() => {
    fixture = new Fixture();
  });
  afterEach(() => fixture[Symbol.dispose]());

  async function outputOf(command: string, network = false): Promise<string> {
    const sandbox = openSandbox(found as SandboxFound, { workspace: fixture.workspace, network });
    const { stdout, stderr } = await fixture.run(command, { sandbox });
    return stdout.head + stderr.head;
  }

  it("no command leaves a set-user-ID file behind", async () => {
    mkdirSync(join(fixture.root, "archive"));
    writeFileSync(join(fixture.root, "archive/tool"), "#!/bin/sh\n", { mode: 0o755 });
    execFileSync("chmod", ["4755", join(fixture.root, "archive/tool")]);
    execFileSync("tar", ["-C", fixture.root, "-cf", join(fixture.root, "a.tar"), "archive"]);
    execFileSync("rm", ["-r", join(fixture.root, "archive")]);
    const output = await outputOf(
      "cp /bin/sh a; chmod 4755 a; cp /bin/sh b; chmod u+s b; install -m 6755 /bin/sh c; tar -xpf a.tar; " +
        "cp -p $(find /usr/bin -perm -4000 | head -1) d; chmod 755 a && echo ordinary",
    );
    expect(output).toMatch(/not permitted/);
    expect(output).toContain("ordinary");
    const names = readdirSync(fixture.root, { recursive: true }).map(String);
    expect(names).toContain("a");
    expect(names.filter(name => (statSync(join(fixture.root, name)).mode & 0o4000) !== 0)).toEqual([]);
  });

  it.skipIf(!existsSync("/usr/bin/cc"))("calls made directly are refused, too", async () => {
    writeFileSync(
      join(fixture.root, "calls.c"),
      `#define _GNU_SOURCE
       #include <errno.h>
       #include <fcntl.h>
       #include <stdio.h>
       #include <sys/socket.h>
       #include <sys/stat.h>
       #include <sys/syscall.h>
       #include <unistd.h>
       #define T(name, call) do { errno = 0; long r = (call); printf("%s %d\\n", name, r < 0 ? errno : 0); } while (0)
       int main(void) {
         struct { unsigned long flags, mode, resolve; } how = { O_CREAT | O_WRONLY, 04755, 0 };
         T("keyctl", syscall(SYS_keyctl, 0, -3, 0));
         T("add_key", syscall(SYS_add_key, "user", "n", "p", 1, -3));
         T("request_key", syscall(SYS_request_key, "user", "n", 0, 0));
         T("open", open("s1", O_CREAT | O_WRONLY, 04755));
         T("tmpfile", open(".", O_TMPFILE | O_WRONLY, 04755));
         T("mknod", mknod("s2", S_IFREG | 04755, 0));
         T("openat2", syscall(437, AT_FDCWD, "s3", &how, sizeof how));
         T("fchmodat2", syscall(452, AT_FDCWD, "calls.c", 04755, 0));
         T("io_uring", syscall(425, 1, 0));
         T("plain", open("p", O_CREAT | O_WRONLY, 0755));
         T("unix", socket(AF_UNIX, SOCK_STREAM, 0));
         int pair[2];
         T("pair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
         T("datagrams", socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
         T("vsock", socket(AF_VSOCK, SOCK_STREAM, 0));
         return 0;
       }`,
    );
    const said = await outputOf("cc -w calls.c -o calls && ./calls", true);
    expect(
      Object.fromEntries(
        said
          .trim()
          .split("\n")
          .map(line => line.split(" ")),
      ),
    ).toEqual({
      ...{ keyctl: "38", add_key: "38", request_key: "38", openat2: "38", io_uring: "38" },
      ...{ open: "1", tmpfile: "1", mknod: "1", fchmodat2: "1", unix: "97", plain: "0", pair: "0" },
      ...{ datagrams: "95", vsock: "97" },
    });
    expect(await outputOf("rm p; ./calls")).toMatch(/^unix 0\npair 0\ndatagrams 0\nvsock 97$/m);
  });

  it("no keys of the server's are listed", async () => {
    expect(await outputOf("cat /proc/keys /proc/key-users 2>/dev/null; echo end")).toBe("end\n");
  });
});
