// What the sieve's threads do. The function is turned into source text for them, so that it survives bundling: it must
// not refer to anything outside of itself, and has methods instead of named functions, which bundlers wrap.
//
// For each file there is a record: which file it was (inode, size, times) and a filter, in which a bit is set for
// each sequence of three bytes that the file holds, letters A–Z taken as a–z. Records are only ever added, by one
// thread; the slot that leads to a record is written last, so that another thread finds it whole.
import type * as FileSystem from "node:fs";

export type Fs = Pick<
  typeof FileSystem,
  "lstatSync" | "openSync" | "fstatSync" | "readSync" | "closeSync" | "constants"
>;

/** What must be there, as places in a filter. */
export interface Grams {
  readonly all: readonly number[];
  readonly any: readonly (readonly Grams[])[];
}

/** Files in one directory: their names with a slash between them. The path is "", or ends with a slash. */
export interface Names {
  readonly path: string;
  readonly names: string;
  readonly count: number;
}

export interface Question {
  readonly grams: Grams;
  /** Whether case does not count: of a file with letters that have a third case nothing is told then. */
  readonly ignoreCase: boolean;
  readonly device: number;
  readonly maxFileSize: number;
}

/** Shared between threads: how many words are used, the slots by inode, and the records. */
export interface Memory {
  readonly used: Int32Array;
  readonly slots: Int32Array;
  readonly words: Uint32Array;
}

/** Files below a directory, whose path is absolute and ends with a slash. */
export interface Files {
  readonly base: string;
  readonly lists: readonly Names[];
}

/** A question about many files, answered in portions by whoever has time. */
export interface Job {
  readonly base: string;
  /** Of each portion, its first list and the place of its first file; at the end, how many there are of both. */
  readonly portions: readonly (readonly [list: number, file: number])[];
  readonly question: Question;
  /** With more unknown files than this, or with more that may hold what is sought, the rest is of no interest. */
  readonly mostUnknown: number;
  readonly mostFound: number;
  /** Counters (the next portion, unknown files, found ones, portions that are done); a verdict for each file (verdict.ts). */
  readonly shared: SharedArrayBuffer;
}

export interface Sifter {
  /** Takes a portion and does it; false where none is left. */
  sift(lists: readonly Names[], job: Job): boolean;
  /** Reads files and remembers what they hold. False where there is no room for more. */
  learn(base: string, files: Names, device: number): boolean;
}

export function sifter(fs: Fs, { used, slots, words }: Memory): Sifter {
  const headWords = 8;
  const largestFile = 256 * 1024;
  const mostPlaces = 16_384;
  const mask = slots.length - 1;
  const times = new Float64Array(2);
  const timeWords = new Uint32Array(times.buffer);
  const seen = new Uint32Array(2048); // a bit for each of 65,536 places
  const places = new Uint16Array(65_536);
  let buffer: Uint8Array | undefined;

  const inner = {
    firstSlot(low: number): number {
      return Math.imul(low, 0x9e3779b1) >>> 8;
    },
    /** The record of a file as it is now; 0 where there is none. */
    recordOf(stat: FileSystem.Stats): number {
      const low = stat.ino >>> 0;
      const high = Math.floor(stat.ino / 2 ** 32) >>> 0;
      for (let slot = inner.firstSlot(low); ; slot++) {
        const at = Atomics.load(slots, slot & mask);
        if (at === 0) return 0;
        if (words[at] === low && words[at + 1] === high) return inner.isSame(at, stat) ? at : 0;
      }
    },
    isSame(at: number, { size, mtimeMs, ctimeMs }: FileSystem.Stats): boolean {
      times[0] = mtimeMs;
      times[1] = ctimeMs;
      for (let i = 0; i < 4; i++) if (words[at + 3 + i] !== timeWords[i]) return false;
      return words[at + 2] === size;
    },
    holds(at: number, shift: number, { all, any }: Grams): boolean {
      for (const gram of all) {
        const place = gram >>> (16 - shift);
        if (((words[at + headWords + (place >>> 5)] as number) & (1 << (place & 31))) === 0) return false;
      }
      for (const branches of any) if (!branches.some(branch => inner.holds(at, shift, branch))) return false;
      return true;
    },
    verdict(path: string, { grams, ignoreCase, device, maxFileSize }: Question): number {
      let stat: FileSystem.Stats | undefined;
      try {
        stat = fs.lstatSync(path, { throwIfNoEntry: false });
      } catch {
        return 2;
      }
      if (stat === undefined || !stat.isFile()) return 2;
      if (stat.size > maxFileSize) return 3;
      const at = stat.dev === device ? inner.recordOf(stat) : 0;
      if (at === 0) return 2;
      const about = words[at + 7] as number;
      const shift = about & 255;
      if (shift === 0 || (ignoreCase && about > 255)) return 1;
      return inner.holds(at, shift, grams) ? 1 : 0;
    },
    /** Reads a file into the buffer; undefined where it is known, not for us, or too fresh to be told from its next state. */
    read(path: string, device: number): FileSystem.Stats | undefined {
      const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
      let fd: number | undefined;
      try {
        // Whatever changes the file from here on gives it a later time of change than one that is past already. How
        // far past: times are those of the last tick of a clock, and some file systems round them to seconds.
        const now = Date.now();
        fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
        const stat = fs.fstatSync(fd);
        const isFresh = stat.ctimeMs > now - (stat.ctimeMs % 1000 === 0 ? 3000 : 100);
        if (!stat.isFile() || stat.dev !== device || isFresh || inner.recordOf(stat) !== 0) return undefined;
        if (stat.size > largestFile) return stat;
        buffer ??= new Uint8Array(largestFile);
        for (let at = 0; at < stat.size; ) {
          const count = fs.readSync(fd, buffer, at, stat.size - at, at);
          if (count === 0) return undefined;
          at += count;
        }
        return stat;
      } catch {
        return undefined;
      } finally {
        if (fd !== undefined) fs.closeSync(fd);
      }
    },
    /** Finds the places of all sequences in the buffer; tells how many there are, and whether letters are unusual. */
    collect(bytes: Uint8Array, size: number): { count: number; unusual: boolean } {
      let count = 0;
      let unusual = false;
      let gram = 0;
      for (let i = 0; i < size; i++) {
        let byte = bytes[i] as number;
        if (byte >= 65 && byte <= 90) byte += 32;
        gram = ((gram << 8) | byte) & 0xffffff;
        // The Kelvin sign, and the last bytes of the long s.
        if (gram === 0xe284aa || (gram & 0xffff) === 0xc5bf) unusual = true;
        if (i < 2) continue;
        const place = Math.imul(gram, 0x9e3779b1) >>> 16;
        const bit = 1 << (place & 31);
        const word = seen[place >>> 5] as number;
        if ((word & bit) !== 0) continue;
        seen[place >>> 5] = word | bit;
        places[count++] = place;
      }
      for (let i = 0; i < count; i++) seen[(places[i] as number) >>> 5] = 0;
      return { count, unusual };
    },
    /** Adds a record with a filter of 2^shift bits, or without one; false where there is no room. */
    add(stat: FileSystem.Stats, shift: number, unusual: boolean, count: number): boolean {
      const at = used[0] as number;
      const length = headWords + (shift === 0 ? 0 : (1 << shift) >>> 5);
      if (at + length > words.length || (used[1] as number) > slots.length / 2) return false;
      const low = stat.ino >>> 0;
      const high = Math.floor(stat.ino / 2 ** 32) >>> 0;
      times[0] = stat.mtimeMs;
      times[1] = stat.ctimeMs;
      words.set([low, high, stat.size, ...timeWords, shift | (unusual ? 256 : 0)], at);
      for (let i = 0; shift > 0 && i < count; i++) {
        const place = (places[i] as number) >>> (16 - shift);
        const word = at + headWords + (place >>> 5);
        words[word] = (words[word] as number) | (1 << (place & 31));
      }
      let slot = inner.firstSlot(low);
      for (let old = slots[slot & mask] as number; old !== 0; old = slots[++slot & mask] as number)
        if (words[old] === low && words[old + 1] === high) break;
      if (slots[slot & mask] === 0) used[1] = (used[1] as number) + 1;
      used[0] = at + length;
      Atomics.store(slots, slot & mask, at);
      return true;
    },
  };

  return {
    sift(lists, { base, portions, question, mostUnknown, mostFound, shared }) {
      const counters = new Int32Array(shared, 0, 4);
      const verdicts = new Uint8Array(shared, 16);
      const portion = Atomics.add(counters, 0, 1);
      const from = portions[portion];
      const to = portions[portion + 1];
      if (from === undefined || to === undefined) return false;
      if (Atomics.load(counters, 1) > mostUnknown || Atomics.load(counters, 2) > mostFound) return false;
      let unknown = 0;
      let found = 0;
      let file = from[1];
      for (let i = from[0]; i < to[0]; i++) {
        const { path, names } = lists[i] as Names;
        for (const name of names.split("/")) {
          const verdict = inner.verdict(base + path + name, question);
          if (verdict === 2) unknown++;
          else if (verdict === 1) found++;
          verdicts[file++] = verdict;
        }
      }
      Atomics.add(counters, 1, unknown);
      Atomics.add(counters, 2, found);
      Atomics.add(counters, 3, 1);
      return true;
    },
    learn(base, { path, names }, device) {
      for (const name of names.split("/")) {
        const stat = inner.read(base + path + name, device);
        if (stat === undefined) continue;
        const bytes = stat.size > largestFile ? undefined : buffer;
        const isWide =
          bytes !== undefined && stat.size > 1 && (bytes[0] as number) + (bytes[1] as number) === 509;
        const { count, unusual } =
          bytes === undefined || isWide ? { count: 0, unusual: false } : inner.collect(bytes, stat.size);
        // UTF-16 is searched as the text that it stands for; large files and such as hold too much are not told apart.
        const hasFilter = bytes !== undefined && !isWide && count <= mostPlaces;
        let shift = 8;
        while (1 << shift < 2 * count) shift++;
        if (!inner.add(stat, hasFilter ? shift : 0, unusual, count)) return false;
      }
      return true;
    },
  };
}
