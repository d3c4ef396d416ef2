// Commands in a sandbox: what they can reach, what they cannot, and that ordinary work goes on inside.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { HiddenPlaces } from "../../src/engine/shell/hidden-places.ts";
import type { SandboxFound, SandboxPolicy } from "../../src/engine/shell/policy.ts";
import type { RunOptions, RunResult } from "../../src/engine/shell/run.ts";
import { findSandbox, openSandbox } from "../../src/engine/shell/sandbox.ts";
import { secretsOf } from "../../src/engine/shell/secrets.ts";
import { inheritedDescriptors } from "../../src/engine/workspace/system/inherited.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { end, Fixture, odd, running } from "./fixture.ts";

const found = await findSandbox();
const missing = "missing" in found ? `${found.missing}; ${found.install}` : undefined;
if (missing !== undefined) console.warn(`SKIPPED, commands in a sandbox: ${missing}`);

let fixture: Fixture;
beforeEach(() => {
  fixture = new Fixture();
});
afterEach(() => fixture[Symbol.dispose]());

function confined(
  command: string,
  policy: Partial<SandboxPolicy> = {},
  options: Partial<RunOptions> = {},
): Promise<RunResult> {
  const whole = { workspace: fixture.workspace, network: false, ...policy };
  return fixture.run(command, { sandbox: openSandbox(found as SandboxFound, whole), ...options });
}

/** Everything that it wrote. */
async function outputOf(command: string, policy?: Partial<SandboxPolicy>): Promise<string> {
  const { stdout, stderr } = await confined(command, policy);
  return stdout.head + stderr.head;
}

describe.skipIf(missing !== undefined)("a confined command", () => {
  it("works in the root, and its exit is reported as it was", async () => {
    const result = await confined("pwd; cat pub.txt; echo new > made.txt; echo err >&2; exit 7");
    expect(result).toMatchObject({ ended: "exit", exitCode: 7, signal: null });
    expect(result.stdout.head).toBe(`${fixture.root}\nPUBLIC\n`);
    expect(result.stderr.head).toBe("err\n");
    expect(readFileSync(join(fixture.root, "made.txt"), "utf8")).toBe("new\n");
    expect(await confined("kill -9 $$")).toMatchObject({ ended: "exit", exitCode: null, signal: "SIGKILL" });
  });

  const out = "../outside";
  it.each([
    ["by its path", "cat $OUT/secret.txt"],
    ["by going up", `cd .. && cat ${out}/secret.txt`],
    ["in a substitution", "echo $(cat $OUT/secret.txt)"],
    ["after a newline", "true\ncat $OUT/secret.txt"],
    ["after an expansion", `\${X:-cat} $OUT/secret.txt`],
    ["in a process substitution", "bash -c 'cat <(cat $OUT/secret.txt)'"],
    ["through a link", "ln -s $OUT/secret.txt l && cat l"],
    ["through the root of another process", "cat /proc/*/root$OUT/secret.txt"],
  ])("cannot read outside %s", async (_, command) => {
    const result = await confined(`OUT=${fixture.outside}; export OUT; ${command}`);
    expect(result.stdout.head + result.stderr.head).not.toContain(fixture.secret);
    expect(result.stderr.head).toMatch(/No such file|cannot open|can't cd|Permission denied/);
  });

  it("can plant a link that leads out, which no tool follows", async () => {
    await confined(`ln -s ${fixture.outside}/secret.txt l; ln -s ${fixture.outside} d`);
    for (const path of ["l", "d/secret.txt"]) {
      expect(() => fixture.workspace.file(fixture.workspace.at(path))).toThrow("outside_roots");
    }
    expect(() => fixture.workspace.directory(fixture.workspace.at("d"))).toThrow("outside_roots");
  });

  it("can write only in the roots and in its temporary directories", async () => {
    const places = [
      fixture.outside,
      fixture.base,
      "/",
      "/usr",
      "/etc",
      "/dev",
      "/proc",
      "/run",
      "/var",
      "/home",
    ];
    const output = await outputOf(places.map(place => `echo x > ${place}/pwn`).join("; "));
    expect(output.match(/cannot create|Read-only|nonexistent|Permission/g)?.length).toBeGreaterThanOrEqual(
      places.length,
    );
    expect(readdirSync(fixture.outside)).toEqual(["secret.txt"]);
    expect(readdirSync(fixture.base).sort()).toEqual(["outside", "root"]);
    expect(await outputOf("touch /tmp/a ~/b /dev/shm/c && echo fine")).toBe("fine\n");
    // Scratch places are new each time: nothing in them can wait for a later command.
    expect(await outputOf("ls -d /tmp/a ~/b /dev/shm/c 2>/dev/null; ls -A ~ /dev/shm")).not.toMatch(
      /[abc]$/m,
    );
  });

  it("cannot change kernel settings, even if the server is root", async () => {
    const before = readFileSync("/proc/sys/kernel/core_pattern", "utf8");
    const output = await outputOf(
      "for f in kernel/core_pattern kernel/pid_max vm/swappiness; do cat /proc/sys/$f > /proc/sys/$f; done; echo 5 > /proc/self/oom_score_adj; true",
    );
    expect(output.match(/Read-only/g)?.length).toBe(4);
    expect(readFileSync("/proc/sys/kernel/core_pattern", "utf8")).toBe(before);
  });

  it("can only read a root that is granted for reading", async () => {
    fixture.grant([
      { path: fixture.root, access: "read-write" },
      { path: fixture.outside, access: "read-only" },
    ]);
    const output = await outputOf(
      `cat ${fixture.outside}/secret.txt; touch ${fixture.outside}/pwn; touch mine`,
    );
    expect(output).toContain(fixture.secret);
    expect(output).toMatch(/Read-only/);
    expect(readdirSync(fixture.outside)).toEqual(["secret.txt"]);
    expect(existsSync(join(fixture.root, "mine"))).toBe(true);
  });

  it("sees no keys, though the whole home directory is granted", async () => {
    mkdirSync(join(fixture.root, ".ssh"));
    mkdirSync(join(fixture.root, "keys"));
    writeFileSync(join(fixture.root, ".ssh/id_ed25519"), fixture.secret);
    writeFileSync(join(fixture.root, ".netrc"), fixture.secret);
    writeFileSync(join(fixture.root, "keys/aws"), fixture.secret);
    symlinkSync("keys", join(fixture.root, ".aws"));
    const output = await outputOf("cat .ssh/* .netrc .aws/aws keys/aws; ls -A", {
      hidden: new HiddenPlaces(secretsOf(fixture.root)),
    });
    expect(output).not.toContain(fixture.secret);
    expect(output).toContain("pub.txt");
    expect(readFileSync(join(fixture.root, ".ssh/id_ed25519"), "utf8")).toBe(fixture.secret);
    expect(readdirSync(fixture.root).sort()).toEqual([".aws", ".netrc", ".ssh", "keys", "pub.txt"]);
  });

  it("cannot connect anywhere, not even to this machine, unless that is allowed", async () => {
    const server = createServer(socket => socket.end("HELLO")).listen(0, "127.0.0.1");
    await new Promise(resolve => server.once("listening", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const command = `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3'`;
    expect(await outputOf(command)).toMatch(/refused|unreachable/);
    expect(await outputOf(command, { network: true })).toBe("HELLO");
    server.close();
  });

  it("sees no process but its own, and no variable of the server's", async () => {
    process.env.POLYFS_TEST_TOKEN = fixture.secret;
    const output = await outputOf(
      "cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'; echo count $(ls -d /proc/[0-9]* | wc -l); kill -0 $PPID; ls -l /proc/$PPID/root",
    );
    delete process.env.POLYFS_TEST_TOKEN;
    expect(output).not.toContain(fixture.secret);
    expect(output).not.toContain("vitest");
    expect(Number(/^count (\d+)$/m.exec(output)?.[1])).toBeLessThan(8);
    expect(await outputOf(`kill -0 ${process.pid} && echo reached`)).not.toContain("reached");
  });

  it("has no privileges and gets none, and no descriptor but its three", async () => {
    const output = await outputOf("grep -E 'NoNewPrivs|CapEff|CapBnd' /proc/self/status");
    const listing = (await outputOf("ls /proc/self/fd")).trim().split("\n").map(Number);
    expect(output).toMatch(/NoNewPrivs:\s1/);
    expect(output).toMatch(/CapEff:\s0{16}/);
    expect(output).toMatch(/CapBnd:\s0{16}/);
    expect(listing.filter(fd => !inheritedDescriptors().includes(fd)).sort()).toEqual([0, 1, 2, 3]);
    expect(await outputOf("unshare -U true && echo made")).not.toContain("made");
  });

  it("cannot fill the process table", async () => {
    // Bounded on purpose: thirty more than are allowed, and not a bomb.
    const limits = { processes: 40 };
    const forks = "i=0; while [ $i -lt 70 ]; do sleep 20 & i=$((i+1)); done; echo all";
    if ((found as SandboxFound) && (found as SandboxFound).holdsProcesses === "nothing") {
      console.warn("SKIPPED, process limit: no control group can be made, and root has no other limit");
      return;
    }
    const result = await confined(forks, { limits });
    expect(result.stderr.head).toMatch(/fork/i);
    expect(result.stdout.head).not.toContain("all");
    expect(await outputOf("echo alive")).toBe("alive\n");
    // A real one, now that the limit has proved to hold. The first shell ends if it cannot fork once more.
    const bomb = await confined(
      "bomb() { bomb | bomb & }; bomb; exec sleep 60",
      { limits },
      { timeoutMs: 1000, graceMs: 0 },
    );
    expect(bomb.ended).toBe("timeout");
    expect(await outputOf("echo alive")).toBe("alive\n");
  });

  it("cannot fill memory or its temporary directories, nor write an endless file", async () => {
    const limits = { scratchBytes: 1 << 20, fileBytes: 1 << 20, memoryBytes: 256 << 20 };
    const fill = "for d in /tmp ~ /dev/shm .; do head -c 3000000 /dev/zero > $d/f; wc -c < $d/f; done";
    const { stdout } = await confined(fill, { limits });
    const written = stdout.head.trim().split("\n").map(Number);
    expect(written).toHaveLength(4);
    for (const bytes of written) expect(bytes).toBeLessThanOrEqual(1 << 20);
    const { exitCode } = await confined("head -c 600000000 /dev/zero | tail -c 500000000 > /dev/null", {
      limits,
    });
    expect(exitCode).not.toBe(0);
  });

  it("sees no bind mount below a system directory, and a root that is one only as the root", async context => {
    if (process.getuid?.() !== 0) return context.skip("only root can mount");
    const [view, root] = [mkdtempSync("/opt/polyfs-view-"), mkdtempSync("/opt/polyfs-root-")];
    const mounted: string[] = [];
    try {
      try {
        for (const at of [view, root]) {
          execFileSync("mount", ["--bind", fixture.root, at], { stdio: "ignore" });
          mounted.push(at);
        }
      } catch {
        return context.skip("nothing can be mounted here");
      }
      expect(readFileSync(join(view, "pub.txt"), "utf8")).toBe("PUBLIC\n");
      expect(await outputOf(`ls -A ${view}; cat ${view}/pub.txt; touch ${view}/x`)).toMatch(
        /^cat: .*No such file.*\n.*Read-only/,
      );
      fixture.grant([{ path: root, access: "read-write" }]);
      using directory = fixture.workspace.directory(fixture.workspace.at(root));
      const inside = await confined("cat pub.txt && echo new > made.txt", {}, { directory });
      expect(inside.stdout.head).toBe("PUBLIC\n");
      expect(inside.exitCode).toBe(0);
    } finally {
      fixture.workspace[Symbol.dispose]();
      for (const at of mounted) execFileSync("umount", [at]);
      for (const at of [view, root]) rmdirSync(at);
    }
  });

  it("sees nothing of the system by the mounts of a chroot below a system directory", async context => {
    if (process.getuid?.() !== 0) return context.skip("only root can mount");
    const view = mkdtempSync("/opt/polyfs-chroot-");
    const chroot = { proc: join(view, "proc"), sysfs: join(view, "sys"), devpts: join(view, "pts") };
    const mounted: string[] = [];
    try {
      for (const [type, at] of Object.entries(chroot)) {
        mkdirSync(at);
        try {
          execFileSync("mount", ["-t", type, type, at], { stdio: "ignore" });
        } catch {
          return context.skip("nothing can be mounted here");
        }
        mounted.push(at);
      }
      expect(await outputOf(`cd ${view} && ls -A *`)).toBe("proc:\n\npts:\n\nsys:\n");
    } finally {
      for (const at of mounted) execFileSync("umount", [at]);
      rmSync(view, { recursive: true });
    }
  });

  it("cannot fill the disk: it is stopped before", async () => {
    const disk = join(fixture.base, "disk");
    mkdirSync(disk);
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=20m", "tmpfs", disk], { stdio: "ignore" });
    } catch {
      console.warn("SKIPPED, filling the disk: no small disk can be mounted here");
      return;
    }
    try {
      fixture.grant([{ path: disk, access: "read-write" }]);
      using directory = fixture.workspace.directory(fixture.workspace.at(disk));
      const fill = "while :; do head -c 500000 /dev/zero >> f; sleep 0.05; done";
      const limits = { reserveBytes: 8_000_000 };
      expect((await confined(fill, { limits }, { directory })).ended).toBe("disk_full");
    } finally {
      fixture.workspace[Symbol.dispose]();
      execFileSync("umount", [disk]);
    }
  });

  it("ends at its timeout, with children in their own sessions; it may still print something", async () => {
    const nap = odd();
    const result = await confined(
      `trap 'echo bye; exit 9' TERM; (env -i setsid sleep ${nap} &); setsid sh -c "trap '' TERM; sleep ${nap}" & while :; do sleep 0.05; done`,
      {},
      { timeoutMs: 4000, graceMs: 10_000 },
    );
    expect(result).toMatchObject({ ended: "timeout", exitCode: 9, stdout: { head: "bye\n" } });
    expect(running(nap)).toEqual([]);
  });

  it("ends when it is cancelled, or writes without end", async () => {
    const nap = odd();
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 200);
    const cancelled = await confined(`setsid sleep ${nap} & sleep ${nap}`, {}, { signal: controller.signal });
    expect(cancelled.ended).toBe("cancel");
    expect(running(nap)).toEqual([]);
    const flood = await confined(`sleep ${nap} & yes`, {}, { ceiling: 1_000_000 });
    expect(flood).toMatchObject({ ended: "output_limit", stdout: { bytes: 1_000_000 } });
    expect(running(nap)).toEqual([]);
  });

  it("can be found by its mark with all its processes, also those of the sandbox itself", async () => {
    const nap = odd();
    const controller = new AbortController();
    const cancelled = confined(`: > up; sleep ${nap}`, {}, { signal: controller.signal });
    await vi.waitFor(() => expect(existsSync(join(fixture.root, "up"))).toBe(true), { timeout: 60_000 });
    const marks = running(nap).map(pid =>
      /(?:^|\0)POLYFS_JOB=\w+/.test(readFileSync(`/proc/${pid}/environ`, "latin1")),
    );
    controller.abort();
    expect((await cancelled).ended).toBe("cancel");
    expect(marks.length).toBeGreaterThan(2);
    expect(marks).not.toContain(false);
  });

  it.skipIf(process.arch !== "x64").each([
    ["that process", ""],
    ["only a second thread of it", "zombie"],
  ])(
    "ends with all its processes, though it has taken over the first one of its namespace, and %s lives on",
    async (_, how) => {
      const nap = odd();
      const attack = readFileSync(join(import.meta.dirname, "take-over.py"));
      writeFileSync(join(fixture.root, "attack.py"), attack);
      const { stdout, stderr } = await confined(`exec python3 attack.py ${nap} ${how}`);
      expect([stdout.head, stderr.head]).toEqual(["taken over\n", ""]);
      expect(running(nap)).toEqual([]);
    },
  );

  it("leaves nothing in the background, unless it is told to", async () => {
    const nap = odd();
    expect((await confined(`sleep ${nap} & echo done`)).stdout.head).toBe("done\n");
    expect(running(nap)).toEqual([]);
    expect((await confined(`sleep ${nap} & echo done`, {}, { leftovers: "keep" })).stdout.head).toBe(
      "done\n",
    );
    const sleeper = running(nap);
    expect(sleeper.length).toBeGreaterThan(0);
    end(nap);
    const late = await confined(
      `setsid sleep ${nap} & sleep ${nap}`,
      {},
      { leftovers: "keep", timeoutMs: 300, graceMs: 0 },
    );
    expect(late.ended).toBe("timeout");
    expect(running(nap)).toEqual([]);
  });

  it("gets the root that was granted, though another directory has its name by now", async () => {
    if (!("bindsHandles" in found) || !found.bindsHandles) {
      console.warn("SKIPPED, roots by handle: this bubblewrap takes paths only");
      return;
    }
    renameSync(fixture.root, join(fixture.base, "moved"));
    symlinkSync(fixture.outside, fixture.root);
    using directory = fixture.workspace.directory(fixture.workspace.at("."));
    const result = await confined("pwd; cat pub.txt; touch here; ls", {}, { directory });
    expect(result.stdout.head).toBe(`${fixture.root}\nPUBLIC\nhere\npub.txt\n`);
    expect(readdirSync(fixture.outside)).toEqual(["secret.txt"]);
    expect(readdirSync(join(fixture.base, "moved"))).toContain("here");
  });

  it("whose directory no longer exists is not started: that is a fault, not an exit code", async () => {
    mkdirSync(join(fixture.root, "sub"));
    using directory = fixture.workspace.directory(fixture.workspace.at("sub"));
    execFileSync("rmdir", [join(fixture.root, "sub")]);
    await expect(confined("echo hi", {}, { directory })).rejects.toMatchObject({ code: "no_sandbox" });
  });
});

describe.skipIf(missing !== undefined)("ordinary work goes on in the sandbox", () => {
  it("npm test", async () => {
    writeFileSync(
      join(fixture.root, "package.json"),
      JSON.stringify({ name: "x", scripts: { test: "node --test" }, type: "module" }),
    );
    writeFileSync(join(fixture.root, "a.test.js"), "import test from 'node:test'; test('works', () => {});");
    const result = await confined("npm test");
    expect(result.stdout.head).toMatch(/pass 1/);
    expect(result.exitCode).toBe(0);
  });

  it("git commit, under the user's own name, also in a directory of another user", async () => {
    chmodSync(fixture.root, 0o777);
    if (process.getuid?.() === 0) chownSync(fixture.root, 1234, 1234);
    const identity = { name: 'Ada "the \\first" O\'Neil', email: "ada@example.com" };
    const { stdout, stderr } = await confined(
      "git init -q && git add . && git commit -qm first && git log --format='%an <%ae> %s'",
      { identity },
    );
    expect(stderr.head).not.toMatch(/fatal/);
    expect(stdout.head).toBe(`${identity.name} <${identity.email}> first\n`);
  });

  it.skipIf(!existsSync("/usr/bin/cc"))("a compiler", async () => {
    writeFileSync(join(fixture.root, "a.c"), '#include <stdio.h>\nint main(void) { puts("compiled"); }\n');
    expect(await outputOf("cc a.c -o a && ./a")).toBe("compiled\n");
  });

  it("a server and its client, both inside", async () => {
    const server = `require("http").createServer((q, a) => a.end("served")).listen(8123, () => console.log("up"))`;
    const client = `fetch("http://127.0.0.1:8123").then(a => a.text()).then(console.log)`;
    const output = await outputOf(
      `touch log; node -e '${server}' > log & until grep -q up log; do sleep 0.05; done; node -e '${client}'`,
    );
    expect(output).toBe("served\n");
  });
});

describe.skipIf(missing !== undefined)("a sandbox", () => {
  it("is refused if the whole disk is granted, because it would protect nothing", () => {
    using workspace = Workspace.open([{ path: "/", access: "read-write" }]);
    expect(() => openSandbox(found as SandboxFound, { workspace, network: false })).toThrow("no_sandbox");
  });

  it("without limits sets none", async () => {
    const none = Number.POSITIVE_INFINITY;
    const limits = { processes: none, memoryBytes: none, scratchBytes: none, fileBytes: none };
    const outside = await fixture.run("ulimit -d; ulimit -f");
    expect(await outputOf("ulimit -d; ulimit -f", { limits })).toBe(outside.stdout.head);
    expect(await outputOf("ulimit -d; ulimit -f")).not.toBe(outside.stdout.head);
  });
});

describe("where there is no sandbox", () => {
  it("that is reported, with what to install", async () => {
    if (missing === undefined)
      expect(found).toMatchObject({ kind: expect.any(String), version: expect.any(String) });
    else expect(found).toMatchObject({ missing: expect.any(String), install: expect.any(String) });
  });
});
