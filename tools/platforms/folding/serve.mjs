// Serves a folding tree (tree.mjs) as a file system, by the kernel's FUSE protocol: `node serve.mjs DIRECTORY
// [decomposes]` mounts it there, and ends with the mount. Only for tests: one request after the other, all in memory.
//
// The kernel must not know that two spellings are one entry: it would not pass a rename between them on. So each other
// spelling of an entry has a node number of its own, while `stat` shows the same inode for all of them.
import { spawn } from "node:child_process";
import { constants, openSync, readSync, writeSync } from "node:fs";
import { directoryBits, ENOENT, Errno, linkBits, Node, now, Tree } from "./tree.mjs";

const [directory, form] = process.argv.slice(2);
const tree = new Tree({ decomposes: form === "decomposes" });
const device = openSync("/dev/fuse", constants.O_RDWR);
const options = `fd=3,rootmode=40777,user_id=0,group_id=0,default_permissions,allow_other`;
spawn("mount", ["-i", "-t", "fuse", "-o", options, "folding", directory], {
  stdio: ["ignore", "inherit", "inherit", device],
});

const EINVAL = 22;
const ENOSYS = 38;
const maxWrite = 128 * 1024;
const directIo = 1; // no cache: two node numbers may be one file

/** The nodes by number: the root is 1, others are numbered by inode, or beyond 2^32 where the spelling differs. */
const nodes = new Map([[1n, tree.root]]);
const otherSpellings = new Map();

function numberOf(entry, name) {
  const { node } = entry;
  if (entry.name.equals(name)) {
    const number = BigInt(node.inode);
    nodes.set(number, node);
    return number;
  }
  const key = `${node.inode}/${name.toString("latin1")}`;
  const number = otherSpellings.get(key) ?? (1n << 32n) + BigInt(otherSpellings.size);
  otherSpellings.set(key, number);
  nodes.set(number, node);
  return number;
}

function attributes(node) {
  const out = Buffer.alloc(88);
  const times = [node.atime, node.mtime, node.ctime];
  const size = node.isDirectory ? 0 : node.size;
  [BigInt(node.inode), BigInt(size), BigInt(Math.ceil(size / 512))].forEach((n, i) => {
    out.writeBigUInt64LE(n, i * 8);
  });
  times.forEach((time, i) => {
    out.writeBigUInt64LE(time / 1_000_000_000n, 24 + i * 8);
    out.writeUInt32LE(Number(time % 1_000_000_000n), 48 + i * 4);
  });
  [node.mode, node.links, node.uid, node.gid, node.rdev, 4096, 0].forEach((n, i) => {
    out.writeUInt32LE(n, 60 + i * 4);
  });
  return out;
}

/** What is known about an entry is never kept by the kernel: every call asks again. */
function entryOut(directory, name) {
  const entry = tree.get(directory, name);
  const head = Buffer.alloc(40);
  head.writeBigUInt64LE(numberOf(entry, name), 0);
  return Buffer.concat([head, attributes(entry.node)]);
}

const attrOut = node => Buffer.concat([Buffer.alloc(16), attributes(node)]);

function openOut() {
  const out = Buffer.alloc(16);
  out.writeUInt32LE(directIo, 8);
  return out;
}

/** The strings at the end of a request, each with a NUL. */
function strings(body, from) {
  const found = [];
  for (let at = from; at < body.length; ) {
    const end = body.indexOf(0, at);
    found.push(body.subarray(at, end));
    at = end + 1;
  }
  return found;
}

function create(parent, name, mode, caller, content) {
  const node = new Node(mode, caller);
  if (content !== undefined) {
    node.resize(content.length);
    content.copy(node.content);
  }
  tree.add(parent, name, node);
  return entryOut(parent, name);
}

function setAttributes(node, body) {
  const valid = body.readUInt32LE(0);
  const time = (seconds, part) =>
    body.readBigUInt64LE(seconds) * 1_000_000_000n + BigInt(body.readUInt32LE(part));
  if (valid & 8) node.resize(Number(body.readBigUInt64LE(16)));
  if (valid & 1) node.mode = (node.mode & ~0o7777) | (body.readUInt32LE(68) & 0o7777);
  if (valid & 2) node.uid = body.readUInt32LE(76);
  if (valid & 4) node.gid = body.readUInt32LE(80);
  if (valid & 16) node.atime = valid & 128 ? now() : time(32, 56);
  if (valid & 32) node.mtime = valid & 256 ? now() : time(40, 60);
  node.ctime = now();
  return attrOut(node);
}

function list(node, body) {
  const [after, room] = [body.readBigUInt64LE(8), body.readUInt32LE(16)];
  const out = [];
  let size = 0;
  const dots = [
    { name: Buffer.from("."), node, order: -1 },
    { name: Buffer.from(".."), node: node.parent, order: 0 },
  ];
  const all = [...dots, ...[...node.entries.values()].sort((a, b) => a.order - b.order)];
  for (const { name, node: one, order } of all) {
    const cookie = BigInt(order + 2);
    if (cookie <= after) continue;
    const length = 24 + Math.ceil(name.length / 8) * 8;
    if (size + length > room) break;
    const entry = Buffer.alloc(length);
    entry.writeBigUInt64LE(BigInt(one.inode), 0);
    entry.writeBigUInt64LE(cookie, 8);
    entry.writeUInt32LE(name.length, 16);
    entry.writeUInt32LE(one.mode >> 12, 20);
    name.copy(entry, 24);
    out.push(entry);
    size += length;
  }
  return Buffer.concat(out);
}

function initOut(body) {
  const out = Buffer.alloc(64);
  out.writeUInt32LE(7, 0);
  out.writeUInt32LE(31, 4);
  out.writeUInt32LE(body.readUInt32LE(8), 8);
  out.writeUInt32LE(1 << 5, 12); // writes of more than a page
  out.writeUInt16LE(16, 16);
  out.writeUInt16LE(12, 18);
  out.writeUInt32LE(maxWrite, 20);
  out.writeUInt32LE(1, 24); // times are exact to the nanosecond
  return out;
}

function statfsOut() {
  const out = Buffer.alloc(80);
  [1 << 20, 1 << 19, 1 << 19, 1 << 20, 1 << 19].forEach((n, i) => {
    out.writeBigUInt64LE(BigInt(n), i * 8);
  });
  [4096, 255, 4096].forEach((n, i) => {
    out.writeUInt32LE(n, 40 + i * 4);
  });
  return out;
}

function rename(parent, body, start, flags) {
  const to = nodeAt(body.readBigUInt64LE(0));
  const [from, name] = strings(body, start);
  if (flags > 1) throw new Errno(EINVAL); // no exchange
  tree.rename(parent, from, to, name, flags === 0);
}

function nodeAt(number) {
  const node = nodes.get(number);
  if (node === undefined) throw new Errno(ENOENT);
  return node;
}

const nothing = () => Buffer.alloc(0);

/** By number of the request: (node, body, caller) → answer. */
const requests = {
  1: (node, body) => entryOut(node, strings(body, 0)[0]),
  3: node => attrOut(node),
  4: setAttributes,
  5: node => node.content.subarray(0, node.size),
  6: (node, body, caller) => create(node, strings(body, 0)[0], linkBits | 0o777, caller, strings(body, 0)[1]),
  8: (node, body, caller) => create(node, strings(body, 16)[0], body.readUInt32LE(0), caller),
  9: (node, body, caller) =>
    create(node, strings(body, 8)[0], directoryBits | (body.readUInt32LE(0) & 0o7777), caller),
  10: (node, body) => void tree.remove(node, strings(body, 0)[0], false),
  11: (node, body) => void tree.remove(node, strings(body, 0)[0], true),
  12: (node, body) => rename(node, body, 8, 0),
  45: (node, body) => rename(node, body, 16, body.readUInt32LE(8)),
  13(node, body) {
    const [original, [name]] = [nodeAt(body.readBigUInt64LE(0)), strings(body, 8)];
    tree.add(node, name, original);
    original.links++;
    original.ctime = now();
    return entryOut(node, name);
  },
  14: openOut,
  15(node, body) {
    const [at, size] = [Number(body.readBigUInt64LE(8)), body.readUInt32LE(16)];
    return node.content.subarray(at, Math.max(at, Math.min(node.size, at + size)));
  },
  16(node, body) {
    const [at, size] = [Number(body.readBigUInt64LE(8)), body.readUInt32LE(16)];
    if (at + size > node.size) node.resize(at + size);
    body.copy(node.content, at, 40, 40 + size);
    node.touch();
    const out = Buffer.alloc(8);
    out.writeUInt32LE(size, 0);
    return out;
  },
  17: statfsOut,
  18: nothing,
  20: nothing,
  26: (_, body) => initOut(body),
  27: openOut,
  28: list,
  29: nothing,
  30: nothing,
  35(node, body, caller) {
    const [name] = strings(body, 16);
    return Buffer.concat([create(node, name, body.readUInt32LE(4), caller), openOut()]);
  },
};
const unanswered = new Set([2, 36, 42]); // forgotten nodes, and interrupts

function answer(request) {
  const number = request.readUInt32LE(4);
  if (unanswered.has(number)) return;
  let [error, body] = [0, nothing()];
  try {
    const handle = requests[number];
    if (handle === undefined) throw new Errno(ENOSYS);
    const caller = { uid: request.readUInt32LE(24), gid: request.readUInt32LE(28) };
    const about = request.readBigUInt64LE(16);
    const node = number === 26 ? tree.root : nodeAt(about);
    body = handle(node, Buffer.from(request.subarray(40)), caller) ?? body;
  } catch (thrown) {
    if (!(thrown instanceof Errno)) throw thrown;
    error = -thrown.number;
  }
  const head = Buffer.alloc(16);
  head.writeUInt32LE(16 + body.length, 0);
  head.writeInt32LE(error, 4);
  request.copy(head, 8, 8, 16);
  try {
    writeSync(device, Buffer.concat([head, body]));
  } catch (failed) {
    if (failed.code !== "ENOENT") throw failed; // the caller was interrupted meanwhile
  }
}

const buffer = Buffer.alloc(maxWrite + 8192);
const patienceMs = 10_000;
const sleeper = new Int32Array(new SharedArrayBuffer(4));
for (let isMounted = false; ; ) {
  try {
    const size = readSync(device, buffer);
    isMounted = true;
    answer(buffer.subarray(0, size));
  } catch (error) {
    if (error.code === "ENODEV") process.exit(0); // unmounted
    if (error.code === "ENOENT" || error.code === "EINTR") continue;
    if (isMounted || error.code !== "EPERM" || performance.now() > patienceMs) throw error;
    Atomics.wait(sleeper, 0, 0, 5); // not mounted yet
  }
}
