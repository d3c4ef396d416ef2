// The ground on which confinement is attacked: a root with something public, a place outside with a secret, and
// every kind of bridge between them.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Arena extends Disposable {
  readonly base: string;
  readonly root: string;
  readonly outside: string;
  readonly secret: string;
  /** A fingerprint of everything outside the root: names, kinds, modes, bytes. */
  fingerprint(): string;
}

export function arena(): Arena {
  const base = mkdtempSync(join(tmpdir(), "polyfs-arena-"));
  const [root, outside, sibling] = [join(base, "root"), join(base, "outside"), join(base, "root-evil")];
  const secret = `SECRET-${Math.random().toString(36).slice(2)}`;
  for (const directory of [root, outside, sibling, join(outside, "sub"), join(root, "sub")])
    mkdirSync(directory);
  writeFileSync(join(root, "pub.txt"), "PUBLIC\n");
  writeFileSync(join(root, "sub", "inner.txt"), "PUBLIC\n");
  for (const directory of [outside, sibling, join(outside, "sub")])
    writeFileSync(join(directory, "secret.txt"), secret);
  writeFileSync(join(outside, "linked.txt"), "HARDLINKED");
  symlinkSync(join(outside, "secret.txt"), join(root, "file-link"));
  symlinkSync(outside, join(root, "directory-link"));
  symlinkSync("../outside", join(root, "relative-link"));
  symlinkSync(join(outside, "sub"), join(root, "deep-link"));
  symlinkSync("directory-link", join(root, "chained-link"));
  symlinkSync(join(outside, "created.txt"), join(root, "dangling-link"));
  symlinkSync("loop-b", join(root, "loop-a"));
  symlinkSync("loop-a", join(root, "loop-b"));
  symlinkSync("/dev/zero", join(root, "zero-link"));
  symlinkSync("/proc/self/environ", join(root, "environ-link"));
  linkSync(join(outside, "linked.txt"), join(root, "hard-link"));
  execFileSync("mkfifo", [join(root, "fifo")]);
  return {
    base,
    root,
    outside,
    secret,
    fingerprint: () => [outside, sibling].map(fingerprintOf).join("\n"),
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
  };
}

/** Ways of naming what lies outside. Each must be refused, and by each nothing may be read or changed. */
export function escapes({ base, root, outside }: Arena): Record<string, string> {
  return {
    "up and over": "../outside/secret.txt",
    "an absolute path": `${outside}/secret.txt`,
    "a directory outside": outside,
    "a sibling whose name begins with the root's": `${base}/root-evil/secret.txt`,
    "the parent of the root": base,
    "the root of the file system": "/",
    "up through a directory that does not exist": `${root}/nope/../../outside/secret.txt`,
    "a link to a file": `${root}/file-link`,
    "a link to a directory": "directory-link",
    "a file behind a link to a directory": "directory-link/secret.txt",
    "a new file behind a link to a directory": "directory-link/new.txt",
    "a relative link": "relative-link/secret.txt",
    "a link to a link": "chained-link/secret.txt",
    "up behind a link": "deep-link/../secret.txt",
    "a link that dangles": "dangling-link/x",
    "a loop of links": "loop-a",
    "a link to a device": "zero-link",
    "a link into /proc": "environ-link",
    "the server's own root in /proc": `/proc/self/root${outside}/secret.txt`,
    "the server's own directory in /proc": "/proc/self/cwd/../outside/secret.txt",
    "the server's environment": "/proc/self/environ",
    "the server's input": "/dev/stdin",
    "a NUL that ends the checked part": `${outside}/secret.txt\u0000${root}/pub.txt`,
    "a half of a surrogate pair": `${root}/\ud800x`,
    "a URI": `file://${outside}/secret.txt`,
    "a URI with encoded dots": `file://${root}/%2e%2e/outside/secret.txt`,
    "encoded dots": `${root}/%2e%2e%2foutside%2fsecret.txt`,
    "fullwidth dots": `${root}/\uff0e\uff0e\uff0foutside\uff0fsecret.txt`,
    backslashes: "..\\outside\\secret.txt",
    "the home directory": "~root/.bashrc",
    "a name that is too long": `${root}/${"n".repeat(300)}`,
    "a path that is too long": `${root}/${"a/".repeat(3000)}x`,
  };
}

function fingerprintOf(directory: string): string {
  const hash = createHash("sha256");
  const visit = (path: string) => {
    const stat = lstatSync(path);
    hash.update(`${path} ${stat.mode} ${stat.nlink}\n`);
    if (stat.isDirectory()) for (const name of readdirSync(path).sort()) visit(join(path, name));
    else if (stat.isSymbolicLink()) hash.update(readlinkSync(path));
    else hash.update(readFileSync(path));
  };
  visit(directory);
  return hash.digest("hex");
}
