// Draws docs/run.svg from a real run: a tool edits a file, the history shows it, undo reverts it. Run it again when
// the output changes: `node tools/picture.mjs`.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "./build.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const scratch = mkdtempSync(join(tmpdir(), "polyfs-picture-"));
const env = { ...process.env, POLYFS_STATE_DIR: join(scratch, ".state"), TZ: "UTC" };

try {
  await build();
  writeFileSync(join(scratch, "greet.py"), 'def greet(name):\n    print("Hello " + name)\n\ngreet("you")\n');
  const lines = [
    ...run("call", "edit_file", '{"path": "greet.py", "edits": [{"old": "Hello", "new": "Good morning"}]}'),
    ...run("history"),
    ...run("undo"),
  ];
  writeFileSync(join(root, "docs/run.svg"), drawn(lines));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** The command as people type it, and what they see. */
function run(...args) {
  const typed = ["polyfs", ...args.map(arg => (/[\s{]/.test(arg) ? `'${arg}'` : arg))].join(" ");
  const text = args[0] === "call" ? ["call", "--text", ...args.slice(1)] : args;
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(root, "dist/polyfs.cjs"), ...text], {
    cwd: scratch,
    encoding: "utf8",
    env,
  });
  if (status !== 0) throw new Error(stderr);
  return [`$ ${typed}`, ...stdout.trimEnd().split("\n"), ""];
}

function drawn(lines) {
  const [size, step, margin] = [14, 20, 18];
  const width = Math.max(...lines.map(line => line.length)) * size * 0.602 + 2 * margin;
  const height = lines.length * step + 2 * margin - step;
  const rows = lines.map((line, i) => {
    const text = line.replace(/[&<>]/g, sign => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);
    return `<text x="${margin}" y="${margin + step * (i + 0.7)}" fill="${colour(line)}">${text}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${Math.ceil(width)} ${height}" width="${Math.ceil(width)}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="${size}" xml:space="preserve">
<title>polyfs edits a file, lists its changes and takes one back</title>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${rows.join("\n")}
</svg>
`;
}

function colour(line) {
  if (line.startsWith("$ ")) return "#e6edf3";
  if (/^\+(?!\+\+ )/.test(line)) return "#3fb950";
  if (/^-(?!-- )/.test(line)) return "#f85149";
  return line.startsWith("@@") ? "#39c5cf" : "#9da7b3";
}
