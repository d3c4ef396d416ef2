// The floor: the least that a server on Node can do for each job, by hand. No validation, no confinement, no SDK,
// no atomic writes: what is left is the cost of the runtime, of the protocol and of the work itself.
import * as fs from "node:fs";

const tools = [
  "read",
  "readMany",
  "lines",
  "tail",
  "list",
  "tree",
  "glob",
  "search",
  "write",
  "edit",
  "patch",
];
const inputSchema = { type: "object" };
let rest = "";

process.stdin.setEncoding("utf8");
process.stdin.on("data", chunk => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) take(JSON.parse(line));
});

async function take({ id, method, params }) {
  if (id === undefined) return;
  if (method === "initialize") {
    const serverInfo = { name: "floor", version: "1" };
    return answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo });
  }
  if (method === "tools/list") return answer(id, { tools: tools.map(name => ({ name, inputSchema })) });
  try {
    const text = await jobs[params.name](params.arguments);
    answer(id, { content: [{ type: "text", text }] });
  } catch (error) {
    answer(id, { content: [{ type: "text", text: String(error) }], isError: true });
  }
}

function answer(id, result) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
}

const jobs = {
  read: ({ path }) => fs.readFileSync(path, "utf8"),
  readMany: ({ paths }) => paths.map(path => `${path}:\n${fs.readFileSync(path, "utf8")}`).join("\n"),
  lines({ path, first, count }) {
    const file = fs.openSync(path);
    const buffer = Buffer.allocUnsafe(1 << 20);
    const found = [];
    let line = 1;
    for (;;) {
      const read = fs.readSync(file, buffer);
      let from = 0;
      for (let at = buffer.indexOf(10); at >= 0 && at < read; at = buffer.indexOf(10, from)) {
        if (line >= first) found.push(buffer.toString("utf8", from, at));
        from = at + 1;
        if (++line === first + count) break;
      }
      if (read === 0 || line === first + count) break;
      // A line that goes on after the buffer is cut here and counted once.
      if (from < read && line >= first) found.push(buffer.toString("utf8", from, read));
    }
    fs.closeSync(file);
    return found.join("\n");
  },
  tail({ path, count }) {
    const file = fs.openSync(path);
    const buffer = Buffer.allocUnsafe(65_536);
    const read = fs.readSync(file, buffer, 0, 65_536, Math.max(0, fs.fstatSync(file).size - 65_536));
    fs.closeSync(file);
    return buffer.toString("utf8", 0, read).trimEnd().split("\n").slice(-count).join("\n");
  },
  list: ({ path }) => fs.readdirSync(path).join("\n"),
  tree: ({ path }) => ripgrep(["--files", "--hidden"], path),
  glob: ({ path, ending }) => ripgrep(["--files", "--hidden", "-g", `*${ending}`], path),
  search: ({ path, pattern, regex, limit }) =>
    ripgrep(["-n", "-H", "--no-heading", ...(regex ? [] : ["-F"]), "-e", pattern, path], undefined, limit),
  write({ path, content }) {
    fs.writeFileSync(path, content);
    return "written";
  },
  edit(file) {
    change(file);
    return "edited";
  },
  patch({ files }) {
    for (const file of files) change(file);
    return "patched";
  },
};

function change({ path, edits }) {
  let text = fs.readFileSync(path, "utf8");
  for (const { old, new: fresh } of edits) {
    const at = text.indexOf(old);
    if (at < 0) throw new Error("not found");
    text = text.slice(0, at) + fresh + text.slice(at + old.length);
  }
  fs.writeFileSync(path, text);
}

async function ripgrep(args, cwd, limit = Number.POSITIVE_INFINITY) {
  const { spawn } = await import("node:child_process");
  return await new Promise((resolve, reject) => {
    const child = spawn(process.env.BENCH_RIPGREP ?? "rg", args, {
      cwd,
      stdio: ["ignore", "pipe", "ignore"],
    });
    let output = "";
    let lines = 0;
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", chunk => {
      output += chunk;
      if (limit !== Number.POSITIVE_INFINITY) lines += chunk.split("\n").length - 1;
      if (lines >= limit) child.kill();
    });
    child.on("error", reject);
    child.on("close", () => resolve(output));
  });
}
