// Runs a script from its cached compiled code, if an earlier start has kept some. V8 checks its own version, its
// flags and the length of the source, and trusts the rest: damaged bytes crash the process. So the bytes have a
// checksum, and only files that no other user can have written are used. In any doubt, the source is compiled.
//
// This runs before everything else at the start: it uses only Node, and only modules that Node has loaded anyway.
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  promises,
  readFileSync,
  type Stats,
} from "node:fs";
import { dirname, join } from "node:path";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";

export interface Cache {
  readonly directory: string;
  /** The use of the process: compiled code holds the functions that ran, so each use has its own file. */
  readonly use: string;
  /** Whether this process may write a cache file if there is none. */
  readonly fill: boolean;
}

export interface CompiledScript {
  /** The value of the script. */
  readonly value: unknown;
  /** How often the cached code was written: 0 if there was none. */
  readonly times: number;
  /**
   * Writes the compiled code for the next start, with the functions that ran so far, if these are more than before;
   * absent if that is not wanted.
   */
  readonly keep?: () => Promise<void>;
}

const magic = "polyfs";
const headerBytes = 16;
const timesAt = 7;
const maxBytes = 32 * 1024 * 1024;
/** How much larger a form is that is worth writing. */
const worthwhile = 1.02;
/** So many are kept, the newest; the others are of programs, of Nodes and of uses that are gone. */
const maxForms = 24;

/** Runs the script in `file`, which is ASCII. */
export function runCompiled(file: string, cache: Cache | undefined): CompiledScript {
  const bytes = readFileSync(file);
  const source = bytes.toString("latin1");
  if (cache === undefined)
    return { value: new Script(source, { filename: file }).runInThisContext(), times: 0 };
  const { version, arch, execArgv, env } = process;
  const circumstances = [version, arch, env.NODE_OPTIONS, ...execArgv, cache.use].join("\0");
  const path = join(cache.directory, `${hex(crc32(bytes))}-${hex(crc32(circumstances))}.code`);
  const form = kept(path);
  const script = new Script(source, { filename: file, cachedData: form?.data });
  const value: unknown = script.runInThisContext();
  const used = script.cachedDataRejected === false ? form : undefined;
  let times = used?.times ?? 0;
  let length = used?.data.length ?? 0;
  if (!cache.fill) return { value, times };
  return {
    value,
    times,
    async keep() {
      const data = script.createCachedData();
      if (data.length < length * worthwhile) return;
      length = data.length;
      await keep(path, data, ++times);
    },
  };
}

function hex(number: number): string {
  return number.toString(16).padStart(8, "0");
}

interface CompiledForm {
  readonly data: Buffer;
  readonly times: number;
}

/** The compiled code in a file; undefined if there is none that can be trusted. */
function kept(path: string): CompiledForm | undefined {
  try {
    if (!isOurs(lstatSync(dirname(path)), "directory")) return undefined;
    const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
    const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stat = fstatSync(fd);
      if (!isOurs(stat, "file") || stat.size > maxBytes) return undefined;
      const bytes = readFileSync(fd);
      const data = bytes.subarray(headerBytes);
      const times = bytes[timesAt] ?? 0;
      return header(data, times).equals(bytes.subarray(0, headerBytes)) ? { data, times } : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

/** Whether only this user and root can have written it. */
function isOurs(stat: Stats, kind: "file" | "directory"): boolean {
  if (kind === "file" ? !stat.isFile() : !stat.isDirectory()) return false;
  const user = process.getuid?.();
  // Windows: the directory is in the user's profile, and has no such owner and mode.
  if (user === undefined) return true;
  return (stat.uid === user || stat.uid === 0) && (stat.mode & 0o022) === 0;
}

function header(data: Buffer, times: number): Buffer {
  const bytes = Buffer.alloc(headerBytes);
  bytes.write(magic, "latin1");
  bytes[timesAt] = times;
  bytes.writeUInt32LE(crc32(data, times), 8);
  bytes.writeUInt32LE(data.length, 12);
  return bytes;
}

/** Puts it in place whole, or not at all: then the next start tries again. */
async function keep(path: string, data: Buffer, times: number): Promise<void> {
  const directory = dirname(path);
  try {
    await makeDirectory(directory);
    if (!isOurs(await promises.lstat(directory), "directory")) return;
    await put(path, Buffer.concat([header(data, times), data]));
    await clearOld(directory);
  } catch {
    // A start without it is slower, and that is all.
  }
}

async function put(path: string, bytes: Buffer): Promise<void> {
  const temporary = `${path}.${process.pid}.new`;
  const file = await promises.open(temporary, "wx", 0o600);
  try {
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await promises.rename(temporary, path);
  } catch (error) {
    await promises.unlink(temporary);
    throw error;
  }
}

/** With the one above it, as in a new home; not more. */
async function makeDirectory(path: string): Promise<void> {
  const make = (one: string) => promises.mkdir(one, { mode: 0o700 }).catch(() => undefined);
  await make(dirname(path));
  await make(path);
}

async function clearOld(directory: string): Promise<void> {
  const names = (await promises.readdir(directory)).filter(name => /\.code(\.\d+\.new)?$/.test(name));
  const forms = await Promise.all(
    names.map(async name => {
      const path = join(directory, name);
      return { path, time: (await promises.lstat(path)).mtimeMs };
    }),
  );
  const old = forms.sort((a, b) => b.time - a.time).slice(maxForms);
  await Promise.all(old.map(({ path }) => promises.unlink(path)));
}
