// What every way to hold an object has to do (src/engine/workspace/system/held.ts) stated once. Whichever one this process
// uses runs it: by descriptor on Linux, by the working directory where /proc is hidden, by path on Windows. What only a
// race-free one can do is asked of those alone.
import { spawnSync } from "node:child_process";
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { display, Handle, heldBy, isRaceFree } from "../../src/engine/workspace/handle.ts";
import * as calls from "../../src/engine/workspace/system/calls.ts";
import { copyFileLater, copyFileSync } from "../../src/engine/workspace/system/copy-file.ts";
import { connectLocally, listenLocally } from "../../src/engine/workspace/system/local-channel.ts";
import { onWindows } from "../../src/engine/workspace/windows-path.ts";

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
const errno = (action: () => unknown): string => {
  try {
    action();
    return "";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
};

export function holdingSuite(): void {
  describe(`an object that is held by ${heldBy()}`, () => {
    let base: string;
    let root: Handle;

    beforeEach(() => {
      base = realpathSync.native(mkdtempSync(join(tmpdir(), "polyfs-held-")));
      for (const name of ["in", "in/sub", "in/other", "out"]) mkdirSync(join(base, name));
      writeFileSync(join(base, "in/sub/f"), "inside");
      writeFileSync(join(base, "out/f"), "outside");
      root = Handle.open(join(base, "in"), { directory: true });
    });

    afterEach(() => {
      root.close();
      rmSync(base, { recursive: true, force: true });
    });

    const sub = () => Handle.open(root.below("sub"), { follow: false, directory: true });
    const text = (fd: number) => {
      try {
        return readFileSync(fd, "utf8");
      } finally {
        closeSync(fd);
      }
    };

    it("reports where and what it is", () => {
      using directory = sub();
      using file = Handle.open(directory.below("f"), { follow: false });
      expect(display(file.whereabouts())).toBe(join(base, "in/sub/f").replaceAll("\\", "/"));
      expect([directory.stat().isDirectory(), file.stat().isFile(), file.stat().size]).toEqual([
        true,
        true,
        6,
      ]);
      expect(file.statBig().size).toBe(6n);
    });

    it("opens, lists, creates, renames, links and removes single names in it", () => {
      using directory = sub();
      expect(text(calls.openSync(directory.below("f"), O_RDONLY))).toBe("inside");
      const fd = calls.openSync(directory.below("new"), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
      writeSync(fd, "new");
      closeSync(fd);
      calls.renameSync(directory.below("new"), directory.below("newer"));
      calls.linkSync(directory.below("newer"), directory.below("twin"));
      calls.mkdirSync(directory.below("made"));
      expect(calls.readdirSync(directory.address).sort()).toEqual(["f", "made", "newer", "twin"]);
      calls.rmdirSync(directory.below("made"));
      calls.unlinkSync(directory.below("twin"));
      expect(readdirSync(join(base, "in/sub")).sort()).toEqual(["f", "newer"]);
      expect(readFileSync(join(base, "in/sub/newer"), "utf8")).toBe("new");
    });

    it("reports a missing name, a taken name and a name that is not a directory", () => {
      using directory = sub();
      expect(errno(() => calls.openSync(directory.below("none"), O_RDONLY))).toBe("ENOENT");
      expect(errno(() => calls.mkdirSync(root.below("sub")))).toBe("EEXIST");
      expect(errno(() => Handle.open(directory.below("f"), { follow: false, directory: true }))).toBe(
        "ENOTDIR",
      );
      expect(calls.lstatSync(directory.below("none"), { throwIfNoEntry: false })).toBeUndefined();
    });

    it("renames between a directory and one below it, both ways", () => {
      using directory = sub();
      calls.renameSync(directory.below("f"), root.below("up"));
      expect(readFileSync(join(base, "in/up"), "utf8")).toBe("inside");
      calls.renameSync(root.below("up"), directory.below("down"));
      expect(readdirSync(join(base, "in/sub"))).toEqual(["down"]);
    });

    it("between two siblings, renames or refuses, and loses nothing", () => {
      using from = sub();
      using to = Handle.open(root.below("other"));
      const failed = errno(() => calls.renameSync(from.below("f"), to.below("g")));
      expect(failed).toBe(from.reaches(to, false) ? "" : "EXDEV");
      expect(readdirSync(join(base, failed === "" ? "in/other" : "in/sub"))).toEqual([
        failed === "" ? "g" : "f",
      ]);
    });

    it("copies a file into another directory, whole, with its mode, and through no link", async () => {
      using from = sub();
      using to = Handle.open(root.below("other"), { follow: false, directory: true });
      const large = Buffer.alloc(2_500_000, "polyfs ");
      writeFileSync(join(base, "in/sub/large"), large, { mode: 0o640 });
      using file = Handle.open(from.below("large"), { follow: false });
      copyFileSync(file.address, to.below("copy"), 0);
      await copyFileLater(from.below("large"), to.below("later"), 0);
      for (const name of ["copy", "later"]) {
        expect(readFileSync(join(base, "in/other", name)).equals(large)).toBe(true);
        if (!onWindows) expect(statSync(join(base, "in/other", name)).mode & 0o777).toBe(0o640);
      }
    });

    it.skipIf(onWindows)(
      "a name that is not UTF-8 works or is refused as such, and never means another",
      () => {
        const name = (last: number) => Buffer.concat([Buffer.from("d"), Buffer.from([last])]);
        const inRoot = (bytes: Buffer) => Buffer.concat([Buffer.from(`${base}/in/`), bytes]);
        if (errno(() => mkdirSync(inRoot(name(0xff)))) === "EILSEQ") return; // the file system has no such names
        writeFileSync(Buffer.concat([inRoot(name(0xff)), Buffer.from("/f")]), "this one");
        mkdirSync(join(base, "in/d\ufffd"));
        writeFileSync(join(base, "in/d\ufffd/f"), "another");
        if (heldBy() === "path") {
          expect(errno(() => Handle.open(root.below(name(0xff)), { follow: false }))).toBe("EILSEQ");
          return;
        }
        using directory = Handle.open(root.below(name(0xff)), { follow: false });
        expect(directory.stat().isDirectory()).toBe(true);
        const failed = errno(() => {
          expect(text(calls.openSync(directory.below("f"), O_RDONLY))).toBe("this one");
        });
        const made = errno(() => calls.mkdirSync(root.below(name(0xfe))));
        expect([failed, made]).toEqual(heldBy() === "working directory" ? ["EILSEQ", "EILSEQ"] : ["", ""]);
        const there = readdirSync(join(base, "in"), { encoding: "latin1" }).filter(one =>
          one.startsWith("d"),
        );
        expect(there.includes("d\xfe")).toBe(made === "");
        expect(calls.readdirSync(root.address, { encoding: "latin1" })).toContain("d\xff");
      },
    );

    it("processes talk over a socket in it", async () => {
      using directory = sub();
      const said = await new Promise<unknown>(resolve => {
        const name = `t${process.pid}.sock`;
        const at = join(base, "in/sub");
        const listener = listenLocally(at, name, channel => {
          channel.onMessage = message => {
            listener?.[Symbol.dispose]();
            channel.close();
            resolve(message);
          };
        });
        connectLocally(at, name)?.send({ hello: directory.stat().isDirectory() });
      });
      expect(said).toEqual({ hello: true });
    });

    it("a child process starts in it", () => {
      using directory = sub();
      const script = "process.stdout.write(require('node:fs').readFileSync('f', 'utf8'))";
      const { stdout } = spawnSync(process.execPath, ["-e", script], {
        cwd: directory.currentPath(),
        encoding: "utf8",
      });
      expect(stdout).toBe("inside");
    });

    it.skipIf(onWindows)("a link is opened as itself unless it should be followed", () => {
      symlinkSync(join(base, "out"), join(base, "in/link"));
      using link = Handle.open(root.below("link"), { follow: false });
      expect(link.stat().isSymbolicLink()).toBe(true);
      expect(calls.readlinkSync(root.below("link"))).toBe(join(base, "out"));
      using followed = Handle.open(root.below("link"));
      expect(display(followed.whereabouts())).toBe(join(base, "out"));
    });

    it.runIf(isRaceFree())("stays the same directory when its name points elsewhere", () => {
      using directory = sub();
      renameSync(join(base, "in/sub"), join(base, "in/moved"));
      symlinkSync(join(base, "out"), join(base, "in/sub"));
      expect(text(calls.openSync(directory.below("f"), O_RDONLY))).toBe("inside");
      calls.mkdirSync(directory.below("made"));
      expect(readdirSync(join(base, "in/moved")).sort()).toEqual(["f", "made"]);
      expect(readdirSync(join(base, "out"))).toEqual(["f"]);
      expect(display(directory.whereabouts())).toBe(join(base, "in/moved"));
    });

    it.runIf(isRaceFree())("an open file is the one that is read, whatever has its name by then", () => {
      using directory = sub();
      using file = Handle.open(directory.below("f"), { follow: false });
      const { ino } = file.stat();
      writeFileSync(join(base, "in/other/f"), "replaced");
      renameSync(join(base, "in/other/f"), join(base, "in/sub/f"));
      const fd = calls.openSync(file.address, O_RDONLY);
      expect(fstatSync(fd).ino).toBe(ino);
      expect(text(fd)).toBe("inside");
    });

    it("leaves the working directory of the process where it was", () => {
      const before = process.cwd();
      using directory = sub();
      calls.readdirSync(directory.address);
      expect(process.cwd()).toBe(before);
    });
  });
}
