// `node tools/count-lines.mjs BEFORE [AFTER]`: files and lines in src by folder, at two commits (AFTER: HEAD), as a table.
// Blank lines and comments count. docs/decisions/size.md has the figures and says what they mean.
import { spawnSync } from "node:child_process";

const [before, after = "HEAD"] = process.argv.slice(2);
if (before === undefined) throw new Error("name a commit to compare with");

function git(...args) {
  const { status, stdout, stderr } = spawnSync("git", args, { encoding: "utf8", maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

/** Files and lines of each folder: of the engine one level more, of its workspace two. */
function rooms(commit) {
  const found = new Map();
  // Against the empty tree, every line of a file is an added one.
  const empty = git("hash-object", "-t", "tree", "/dev/null").trim();
  for (const row of git("diff", "--numstat", "--no-renames", empty, commit, "--", "src").trim().split("\n")) {
    const [lines, , path] = row.split("\t");
    if (!/\.tsx?$/.test(path)) continue;
    const folders = path.split("/").slice(1, -1);
    const depth = folders[0] !== "engine" ? 1 : folders[1] === "workspace" ? 3 : 2;
    const room = `src/${folders.slice(0, depth).join("/")}`.replace(/\/$/, "");
    const sum = found.get(room) ?? { files: 0, lines: 0 };
    found.set(room, { files: sum.files + 1, lines: sum.lines + Number(lines) });
  }
  return found;
}

const [old, now] = [rooms(before), rooms(after)];
const nothing = { files: 0, lines: 0 };
const number = value => value.toLocaleString("en");
const cells = (...sums) => sums.map(({ files, lines }) => `${number(files)} | ${number(lines)}`).join(" | ");
const total = all =>
  [...all.values()].reduce(
    (sum, one) => ({ files: sum.files + one.files, lines: sum.lines + one.lines }),
    nothing,
  );

console.log(`| folder | files, ${before} | lines | files, ${after} | lines |\n|---|---:|---:|---:|---:|`);
for (const room of [...new Set([...old.keys(), ...now.keys()])].sort())
  console.log(`| \`${room}\` | ${cells(old.get(room) ?? nothing, now.get(room) ?? nothing)} |`);
console.log(`| **all** | ${cells(total(old), total(now))} |`);
