// Loaded into a server before anything else. With PROOF_POWER_LOG it writes down every call that changes a file
// system, every flush, and every answer, in order, and shows directories that have come to rest as changed an hour ago.
// With PROOF_POWER_MAP it shows the inodes and times of files as they
// were before a power cut that the suite has acted out, another boot of the machine, and a later time.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname } from "node:path";

const real = { ...fs };
const { PROOF_POWER_LOG: logPath, PROOF_POWER_MAP: mapPath } = process.env;

if (logPath !== undefined) record(real.openSync(logPath, "a", 0o600));
if (mapPath !== undefined) disguise(JSON.parse(real.readFileSync(mapPath, "utf8")));
syncBuiltinESMExports();

function record(log) {
  // Several servers may write to one log: it is opened for appending, and each entry is one write.
  const note = entry => real.writeSync(log, `${JSON.stringify(entry)}\n`);
  let flushes = 0;
  /** Notes that a flush begins, and returns the name by which its end refers to that. */
  const begin = () => {
    const flush = `${process.pid}-${++flushes}`;
    note({ op: "flushing", flush });
    return flush;
  };
  const text = path =>
    Buffer.isBuffer(path) ? path.toString("latin1") : Buffer.from(String(path)).toString("latin1");
  const bytes = latin => Buffer.from(latin, "latin1");
  const device = real.fstatSync(log).dev;
  /** Of the file system that is watched; files of others have none. */
  const inode = ({ dev, ino }) => (dev === device ? ino : -1);
  /** A name in a directory, as [inode of the directory, name]. */
  const entryName = path => {
    const whole = text(path);
    return [inode(real.statSync(bytes(dirname(whole)))), basename(whole)];
  };
  const exists = path => real.lstatSync(path, { throwIfNoEntry: false }) !== undefined;

  fs.openSync = (path, flags, mode) => {
    const makes = (flags & fs.constants.O_CREAT) !== 0 && !exists(path);
    const fd = real.openSync(path, flags, mode);
    if (makes) {
      note({ op: "create", at: entryName(path), ...ofFile(fd) });
    }
    return fd;
  };
  fs.writeSync = (fd, from, ...rest) => {
    const written = real.writeSync(fd, from, ...rest);
    const [offset = 0, , position] = rest;
    if (fd === 1) note({ op: "answer", text: String(from) });
    else if (typeof position === "number") {
      const { ino, mtime } = ofFile(fd);
      const data = Buffer.from(from.buffer, from.byteOffset + offset, written).toString("base64");
      note({ op: "write", ino, position, data, mtime });
    }
    return written;
  };
  const after = (name, tell) => {
    fs[name] = (...args) => {
      const result = real[name](...args);
      note(tell(...args));
      return result;
    };
  };
  /** What a call is about must be asked before it, because it is gone afterwards. */
  const around = (name, ask) => {
    fs[name] = (...args) => {
      const entry = ask(...args);
      const result = real[name](...args);
      note(entry);
      return result;
    };
  };
  const ofFile = fd => {
    const stat = real.fstatSync(fd);
    return {
      ino: inode(stat),
      mode: stat.mode,
      size: stat.size,
      mtime: stat.mtimeMs,
      born: stat.birthtimeMs,
    };
  };
  const atRest = directoriesAtRest();
  for (const name of ["statSync", "lstatSync", "fstatSync"])
    fs[name] = (...args) => {
      const stat = real[name](...args);
      if (stat?.isDirectory() && typeof stat.ino === "number" && atRest(stat)) stat.ctimeMs -= 3_600_000;
      return stat;
    };
  after("ftruncateSync", fd => ({ op: "truncate", ...ofFile(fd) }));
  after("fchmodSync", fd => ({ op: "mode", ...ofFile(fd) }));
  after("futimesSync", fd => ({ op: "mode", ...ofFile(fd) }));
  after("chmodSync", path => {
    const stat = real.statSync(path);
    return { op: "mode", ino: inode(stat), mode: stat.mode, mtime: stat.mtimeMs };
  });
  around("renameSync", (from, to) => ({ op: "rename", from: entryName(from), at: entryName(to) }));
  around("linkSync", (from, to) => ({ op: "link", from: entryName(from), at: entryName(to) }));
  around("unlinkSync", path => ({ op: "unlink", at: entryName(path) }));
  around("rmdirSync", path => ({ op: "unlink", at: entryName(path) }));
  after("mkdirSync", path => {
    const stat = real.lstatSync(path);
    return { op: "mkdir", at: entryName(path), ino: inode(stat), mode: stat.mode, born: stat.birthtimeMs };
  });
  after("symlinkSync", (target, path) => {
    const stat = real.lstatSync(path);
    return {
      op: "symlink",
      at: entryName(path),
      ino: inode(stat),
      born: stat.birthtimeMs,
      target: text(target),
    };
  });
  fs.unlink = (path, done) => {
    let entry;
    try {
      entry = { op: "unlink", at: entryName(path) };
    } catch (error) {
      process.nextTick(done, error);
      return;
    }
    // At once: what comes between the call and its end could not be told apart otherwise.
    try {
      real.unlinkSync(path);
      note(entry);
      process.nextTick(done, null);
    } catch (error) {
      process.nextTick(done, error);
    }
  };
  /** A slow disk: more happens while a flush is under way, and flushes end in another order. */
  const slow = Number(process.env.PROOF_POWER_SLOW ?? 0);
  const moment = () => Math.random() ** 3 * slow;
  for (const name of ["fsync", "fdatasync"]) {
    fs[`${name}Sync`] = fd => {
      const flush = begin();
      if (slow > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, moment());
      real[`${name}Sync`](fd);
      note({ op: "synced", ino: ofFile(fd).ino, flush });
    };
    fs[name] = (fd, done) => {
      const [flush, { ino }] = [begin(), ofFile(fd)];
      const flushed = error => {
        if (error === null) note({ op: "synced", ino, flush });
        done(error);
      };
      real[name](fd, error => {
        if (slow > 0) setTimeout(flushed, moment(), error);
        else flushed(error);
      });
    };
  }
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (chunk, ...rest) => {
    note({ op: "answer", text: String(chunk) });
    return write(chunk, ...rest);
  };
}

/** Another program flushed them and noted when they had changed (session.ts). */
function directoriesAtRest() {
  const path = `${logPath}-at-rest`;
  let size = 0;
  let known = new Set();
  return ({ ino, ctimeMs }) => {
    const now = real.statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (now !== size) known = new Set(real.readFileSync(path, "latin1").split("\n"));
    size = now;
    return known.has(`${ino} ${ctimeMs}`);
  };
}

function disguise(shown) {
  const RealDate = Date;
  const off = Number(process.env.PROOF_POWER_OFF ?? 0);
  globalThis.Date = class extends RealDate {
    constructor(...given) {
      super(...(given.length === 0 ? [RealDate.now() + off] : given));
    }
    static now() {
      return RealDate.now() + off;
    }
  };
  const files = new Map(shown);
  const { dev: device, mtimeMs: start } = real.statSync(mapPath);
  // New files must not be shown with a number that one of the old ones had.
  const fresh = 1 + Math.max(0, ...shown.map(([now, { ino }]) => Math.max(now, ino)));
  const change = stat => {
    if (stat === undefined) return stat;
    const big = typeof stat.ino === "bigint";
    // What changes in this boot changes late enough: the server compares with its clock.
    if (!big && Number(stat.dev) === device && stat.ctimeMs >= start) stat.ctimeMs += off;
    const as = files.get(Number(stat.ino));
    if (as === undefined) {
      if (files.size > 0 && Number(stat.dev) === device)
        stat.ino = big ? BigInt(fresh) + stat.ino : fresh + stat.ino;
      return stat;
    }
    stat.ino = big ? BigInt(as.ino) : as.ino;
    if (big) return stat;
    if (stat.mtimeMs === as.now) stat.mtimeMs = as.mtime;
    stat.birthtimeMs = as.born;
    stat.birthtime = new Date(Math.round(as.born));
    return stat;
  };
  for (const name of ["statSync", "lstatSync", "fstatSync"])
    fs[name] = (...args) => change(real[name](...args));
  fs.readFileSync = (path, ...rest) => {
    const content = real.readFileSync(path, ...rest);
    if (path !== "/proc/sys/kernel/random/boot_id") return content;
    const other = `00000000-0000-4000-8000-00000000000${process.env.PROOF_POWER_BOOT ?? 0}\n`;
    return typeof content === "string" ? other : Buffer.from(other);
  };
}
