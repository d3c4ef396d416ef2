// Twelve ways in which checkpoints of other tools have lost people's files, each tried here. The agent works through a
// server, the person undoes at the review page, in a git repository with ignored and untracked files.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Agent, Fixture, type Page } from "./fixture.ts";

// A hook that is registered inside another hook never runs.
const fixture = new Fixture(afterAll);
let agent: Agent;
let page: Page;

/** Without an identity, so git refuses to commit. */
const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=", "-c", "user.email=", ...args], {
    cwd: fixture.root,
    encoding: "utf8",
    env: { ...process.env, HOME: fixture.base, GIT_CONFIG_NOSYSTEM: "1" },
    stdio: ["ignore", "pipe", "ignore"],
  });

beforeAll(async () => {
  fixture.write(".gitignore", "build/\n*.log\n");
  fixture.write("src/main.ts", lines(40));
  git("init", "-q");
  git("add", ".");
  agent = await fixture.agent("agent", ["--allow-run=unsandboxed", fixture.root]);
  page = await fixture.page(fixture.root);
});

function lines(count: number): string {
  return Array.from({ length: count }, (_, i) => `line ${i + 1}\n`).join("");
}

/** Every file with its bytes, kind and mode, but git's own and those that are named. */
function everything(...without: string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(fixture.root, { recursive: true, encoding: "utf8" })) {
    if (
      name === ".git" ||
      name.startsWith(".git/") ||
      without.some(one => name === one || name.startsWith(`${one}/`))
    )
      continue;
    const stat = lstatSync(join(fixture.root, name));
    const content = stat.isFile() ? readFileSync(join(fixture.root, name), "base64") : "";
    found[name] = `${stat.mode} ${content}`;
  }
  return found;
}

async function undo(request: object) {
  const { change, changes } = request as { change?: string; changes?: string[] };
  for (const id of change === undefined ? (changes ?? []) : [change])
    await expect
      .poll(async () => (await page.get(`api/changes/${id}`)).status, { timeout: 30_000 })
      .toBe(200);
  return await page.post("api/undo", request);
}

describe("undo at the review page", () => {
  it("leaves untracked files alone: nothing is cleaned", async () => {
    fixture.write("output/results.bin", Buffer.alloc(100_000, 7));
    const change = await agent.change("edit_file", {
      path: "src/main.ts",
      edits: [{ old: "line 1\n", new: "ONE\n" }],
    });
    const before = everything("src/main.ts");
    expect((await undo({ change })).json.done).toBe(true);
    expect(everything("src/main.ts")).toEqual(before);
  });

  it("leaves ignored files alone, also where the change that is undone made them ignored", async () => {
    fixture.write("cache/model.bin", "weights");
    fixture.write("debug.log", "log\n");
    const change = await agent.change("write_file", {
      path: ".gitignore",
      content: "build/\n*.log\ncache/\n",
    });
    expect((await undo({ change })).json.done).toBe(true);
    expect(fixture.read(".gitignore")).toBe("build/\n*.log\n");
    expect([fixture.read("cache/model.bin"), fixture.read("debug.log")]).toEqual(["weights", "log\n"]);
  });

  it("can be undone itself, byte for byte", async () => {
    fixture.write("notes.txt", "by hand\r\nwithout a final newline");
    const change = await agent.change("write_file", { path: "notes.txt", content: "by the agent\n" });
    const undone = await undo({ change });
    expect(fixture.read("notes.txt")).toBe("by hand\r\nwithout a final newline");
    expect((await undo({ change: undone.json.changes[0] })).json.done).toBe(true);
    expect(fixture.read("notes.txt")).toBe("by the agent\n");
  });

  it("covers the changes of every dialect", async () => {
    const other = await fixture.agent("other", ["--dialect", "reference", fixture.root]);
    const path = join(fixture.root, "src/main.ts");
    const before = readFileSync(path, "utf8");
    await other.call("edit_file", { path, edits: [{ oldText: "line 5\n", newText: "FIVE\n" }] });
    const found = async () =>
      (await page.get("api/changes")).json.changes.find(
        ({ agent: { client } }: { agent: { client: string } }) => client.startsWith("other"),
      );
    await expect.poll(async () => (await found())?.tool, { timeout: 30_000 }).toBe("edit_file");
    expect((await undo({ change: (await found()).id })).json.done).toBe(true);
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  it("brings back untracked and ignored files that the agent changed or deleted", async () => {
    fixture.write("build/artifact.js", "built\n");
    fixture.write("draft.md", "my draft\n");
    const ids = [
      await agent.change("delete_path", { path: "build/artifact.js" }),
      await agent.change("write_file", { path: "draft.md", content: "" }),
    ];
    expect((await undo({ changes: ids })).json.done).toBe(true);
    expect([fixture.read("build/artifact.js"), fixture.read("draft.md")]).toEqual(["built\n", "my draft\n"]);
  });

  it("needs no git identity and no commit, and leaves the repository as it is", async () => {
    expect(() => git("log")).toThrow(); // there is no commit
    const status = git("status", "--porcelain"); // it refreshes the index
    const index = readFileSync(join(fixture.root, ".git/index"));
    const change = await agent.change("delete_path", { path: "src/main.ts" });
    expect((await undo({ change })).json.done).toBe(true);
    expect(fixture.read("src/main.ts")).toContain("line 20\n");
    expect(readFileSync(join(fixture.root, ".git/index")).equals(index)).toBe(true);
    expect(git("status", "--porcelain")).toBe(status);
  });

  it("restores the right version of each step, in any order", async () => {
    fixture.write("steps.txt", lines(30));
    const edit = async (n: number) =>
      await agent.change("edit_file", {
        path: "steps.txt",
        edits: [{ old: `line ${n}\n`, new: `STEP ${n}\n` }],
      });
    const [a, b, c] = [await edit(3), await edit(13), await edit(23)];
    expect((await undo({ change: b })).json.done).toBe(true);
    expect(fixture.read("steps.txt")).toBe(
      lines(30).replace("line 3\n", "STEP 3\n").replace("line 23\n", "STEP 23\n"),
    );
    expect((await undo({ change: a })).json.done).toBe(true);
    expect((await undo({ change: c })).json.done).toBe(true);
    expect(fixture.read("steps.txt")).toBe(lines(30));
  });

  it("covers files that commands changed, created and deleted", async () => {
    fixture.write("shell/old.txt", "old\n");
    fixture.write("shell/kept.txt", "kept\n");
    const before = everything();
    const script =
      "echo more >> shell/old.txt && mkdir shell/new && echo x > shell/new/x && rm shell/kept.txt";
    const change = await agent.change("run_command", { command: script });
    expect(everything()).not.toEqual(before);
    expect((await undo({ change })).json.done).toBe(true);
    expect(everything()).toEqual(before);
  });

  it("keeps what the person edited by hand since, elsewhere in the same file", async () => {
    fixture.write("shared.txt", lines(30));
    const change = await agent.change("edit_file", {
      path: "shared.txt",
      edits: [{ old: "line 2\n", new: "AGENT\n" }],
    });
    fixture.write("shared.txt", fixture.read("shared.txt").replace("line 28\n", "PERSON\n"));
    expect((await undo({ change })).json.done).toBe(true);
    expect(fixture.read("shared.txt")).toBe(lines(30).replace("line 28\n", "PERSON\n"));
  });

  it("refuses where the person edited the same lines, and changes nothing then", async () => {
    fixture.write("clash.txt", lines(9));
    const others = await agent.change("write_file", { path: "beside.txt", content: "new\n" });
    const change = await agent.change("edit_file", {
      path: "clash.txt",
      edits: [{ old: "line 5\n", new: "AGENT\n" }],
    });
    fixture.write("clash.txt", fixture.read("clash.txt").replace("AGENT\n", "PERSON\n"));
    const before = everything();
    const refused = await undo({ changes: [others, change] });
    expect([refused.status, refused.json.done]).toEqual([409, false]);
    expect(refused.json.collisions[0]).toMatchObject({ name: "clash.txt" });
    expect(everything()).toEqual(before);
  });

  it("removes only what the agent created: a directory with another file in it stays", async () => {
    const change = await agent.change("write_file", { path: "made/deep/file.txt", content: "agent\n" });
    fixture.write("made/mine.txt", "mine\n");
    expect((await undo({ change })).json.done).toBe(true);
    expect(existsSync(join(fixture.root, "made/deep"))).toBe(false);
    expect(fixture.read("made/mine.txt")).toBe("mine\n");
  });

  it("brings a deleted tree back whole: links, modes, empty directories, binary files", async () => {
    fixture.write("tree/run.sh", "#!/bin/sh\n");
    execFileSync("chmod", ["755", join(fixture.root, "tree/run.sh")]);
    fixture.write("tree/.hidden/data.bin", Buffer.from([0, 255, 10, 13]));
    mkdirSync(join(fixture.root, "tree/empty"));
    symlinkSync("../src/main.ts", join(fixture.root, "tree/link"));
    writeFileSync(join(fixture.root, "tree/server.log"), "ignored\n");
    const before = everything();
    const change = await agent.change("delete_path", { path: "tree", recursive: true });
    expect(existsSync(join(fixture.root, "tree"))).toBe(false);
    expect((await undo({ change })).json.done).toBe(true);
    expect(everything()).toEqual(before);
    expect(statSync(join(fixture.root, "tree/run.sh")).mode & 0o111).toBe(0o111);
  });
});
