// A file tree in memory that takes several spellings of a name for one: by case and by Unicode form, as APFS and NTFS
// do. It keeps the spelling that a name was created with, or stores every name decomposed, as HFS+ does.

/** A failure of a system call, by its number in Linux. */
export class Errno extends Error {
  constructor(number) {
    super(`errno ${number}`);
    this.number = number;
  }
}
export const ENOENT = 2;
const EEXIST = 17;
const ENOTDIR = 20;
const EISDIR = 21;
const ENOTEMPTY = 39;
const EILSEQ = 84;

const kindBits = 0o170000;
export const directoryBits = 0o040000;
export const linkBits = 0o120000;

let inodes = 0;

export class Node {
  constructor(mode, { uid, gid }) {
    Object.assign(this, { inode: ++inodes, mode, uid, gid, links: 1, rdev: 0 });
    this.content = Buffer.alloc(0);
    this.size = 0;
    /** By folded name; undefined for anything but a directory. */
    this.entries = this.isDirectory ? new Map() : undefined;
    this.parent = this;
    this.atime = this.mtime = this.ctime = now();
  }

  get isDirectory() {
    return (this.mode & kindBits) === directoryBits;
  }

  get isLink() {
    return (this.mode & kindBits) === linkBits;
  }

  resize(size) {
    if (size > this.content.length) {
      const more = Buffer.alloc(Math.max(size, this.content.length * 2));
      this.content.copy(more);
      this.content = more;
    }
    if (size < this.size) this.content.fill(0, size, this.size);
    this.size = size;
    this.touch();
  }

  touch() {
    this.mtime = this.ctime = now();
  }
}

export function now() {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
}

export class Tree {
  #decomposes;
  #orders = 0;

  constructor({ decomposes = false } = {}) {
    this.#decomposes = decomposes;
    this.root = new Node(directoryBits | 0o777, { uid: 0, gid: 0 });
  }

  /** The entry of a name in any spelling. Its `name` is the stored one. */
  find(directory, name) {
    if (!directory.isDirectory) throw new Errno(ENOTDIR);
    return directory.entries.get(fold(name));
  }

  get(directory, name) {
    const entry = this.find(directory, name);
    if (entry === undefined) throw new Errno(ENOENT);
    return entry;
  }

  add(directory, name, node) {
    if (this.find(directory, name) !== undefined) throw new Errno(EEXIST);
    if (directory.links === 0) throw new Errno(ENOENT);
    const stored = this.#decomposes ? Buffer.from(text(name).normalize("NFD")) : Buffer.from(name);
    directory.entries.set(fold(name), { name: stored, node, order: ++this.#orders });
    if (node.isDirectory) node.parent = directory;
    directory.touch();
  }

  remove(directory, name, wantsDirectory) {
    const { node } = this.get(directory, name);
    if (wantsDirectory !== node.isDirectory) throw new Errno(wantsDirectory ? ENOTDIR : EISDIR);
    if (node.isDirectory && node.entries.size > 0) throw new Errno(ENOTEMPTY);
    this.#drop(directory, name);
  }

  #drop(directory, name) {
    const { node } = this.get(directory, name);
    directory.entries.delete(fold(name));
    node.links = node.isDirectory ? 0 : node.links - 1;
    node.ctime = now();
    directory.touch();
  }

  /** Another spelling of the same entry respells it. */
  rename(from, name, to, newName, mayReplace) {
    const { node } = this.get(from, name);
    const there = this.find(to, newName);
    const isItself = from === to && fold(name) === fold(newName);
    if (there !== undefined && !isItself) {
      if (!mayReplace) throw new Errno(EEXIST);
      if (there.node === node) return; // two names of one file
      this.remove(to, newName, node.isDirectory);
    }
    from.entries.delete(fold(name));
    this.add(to, newName, node);
    node.ctime = now();
    from.touch();
  }
}

/** Names are UTF-8, as on APFS and HFS+. */
function text(name) {
  const read = name.toString("utf8");
  if (!Buffer.from(read).equals(name)) throw new Errno(EILSEQ);
  return read;
}

function fold(name) {
  return text(name).normalize("NFC").toLowerCase();
}
