// Changes a tree at random, one step for each message, as another program would. Says what it did.
import fs from "node:fs";
import { join } from "node:path";

const [, , root, seed] = process.argv;
let state = Number(seed) >>> 0;
function below(limit) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}
const pick = from => from[below(from.length)];

/** Real directories by their path below the root; links are not followed. */
function directories(at = "") {
  const found = [at];
  for (const entry of fs.readdirSync(join(root, at), { withFileTypes: true }))
    if (entry.isDirectory()) found.push(...directories(join(at, entry.name)));
  return found;
}

/** Mostly the same few directories: what changes twice within a tick of the clock is the hard case. */
function somewhere() {
  const all = directories();
  return join(root, below(3) > 0 ? pick(all.slice(-4)) : pick(all));
}

const name = () => `n${below(12)}`;
const entriesIn = directory => fs.readdirSync(directory).filter(one => !one.startsWith("."));

function backdate(path) {
  const { atime, mtime } = fs.lstatSync(path);
  return () => fs.utimesSync(path, atime, mtime);
}

const steps = {
  create: at => fs.writeFileSync(join(at, name()), ""),
  remove: at => fs.rmSync(join(at, pick(entriesIn(at))), { recursive: true }),
  mkdir: at => fs.mkdirSync(join(at, name(), name()), { recursive: true }),
  rename: at => fs.renameSync(join(at, pick(entriesIn(at))), join(somewhere(), name())),
  link: at => fs.symlinkSync(somewhere(), join(at, name())),
  swap(at) {
    const path = join(at, pick(entriesIn(at)));
    const aside = join(root, `n${below(12)}`);
    fs.renameSync(path, aside);
    fs.symlinkSync(aside, path);
  },
  turn(at) {
    const path = join(at, pick(entriesIn(at)));
    const wasDirectory = fs.lstatSync(path).isDirectory();
    fs.rmSync(path, { recursive: true });
    if (wasDirectory) fs.writeFileSync(path, "");
    else fs.mkdirSync(path);
  },
  ignore(at) {
    const path = join(at, ".gitignore");
    const restore = fs.existsSync(path) && below(2) > 0 ? backdate(path) : () => {};
    fs.writeFileSync(path, `n${below(10)}\n`); // often the same size as before
    restore();
  },
  obey: at => fs.rmSync(join(at, ".gitignore")),
  secretly(at) {
    const restore = backdate(at);
    fs.writeFileSync(join(at, name()), "");
    restore();
  },
};

const maxDirectories = 40;

process.on("message", () => {
  for (;;) {
    const what = directories().length > maxDirectories ? "remove" : pick(Object.keys(steps));
    const at = somewhere();
    try {
      steps[what](at);
      process.send(`${what} ${at.slice(root.length)}`);
      return;
    } catch {
      // It does not go there: another one.
    }
  }
});
