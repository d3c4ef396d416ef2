// Rules that ask: the call waits for a person, a grant answers beforehand, and a no is a no.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const program = join(import.meta.dirname, "../../dist/polyfs.cjs");

let base: string;
let root: string;
const clients: Client[] = [];
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "polyfs-asking-"));
  root = join(base, "root");
  mkdirSync(join(root, "migrations"), { recursive: true });
  writeFileSync(join(root, "migrations/1.sql"), "one\n");
  const rules = [{ paths: ["migrations/**"], access: "write", ask: ["write", "delete"] }];
  writeFileSync(join(base, "policy.json"), JSON.stringify({ rules }));
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  rmSync(base, { recursive: true, force: true });
});

const environment = () =>
  ({ ...process.env, XDG_CONFIG_HOME: join(base, "config"), HOME: base }) as Record<string, string>;

async function connect(answer?: (message: string) => object): Promise<Client> {
  const client = new Client(
    { name: "tester", version: "1" },
    { capabilities: answer === undefined ? {} : { elicitation: {} } },
  );
  if (answer !== undefined)
    client.setRequestHandler(
      ElicitRequestSchema,
      ({ params }) => answer(params.message) as { action: "accept" },
    );
  const args = [program, "--policy", join(base, "policy.json"), "--state-dir", join(base, "state"), root];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env: environment() }));
  clients.push(client);
  return client;
}

async function write(client: Client): Promise<{ isError: boolean; text: string }> {
  const params = { path: "migrations/1.sql", content: "two\n" };
  const { isError, content } = await client.callTool({ name: "write_file", arguments: params });
  return {
    isError: isError === true,
    text: (content as { text: string }[]).map(({ text }) => text).join(""),
  };
}

const now = () => readFileSync(join(root, "migrations/1.sql"), "utf8");

function polyfs(...args: string[]): Promise<{ code: number | null; out: string }> {
  return new Promise(resolve => {
    const child = spawn(process.execPath, [program, ...args], { env: environment() });
    let out = "";
    child.stdout.on("data", chunk => (out += chunk));
    child.stderr.on("data", chunk => (out += chunk));
    child.on("close", code => resolve({ code, out }));
  });
}

describe("a change that a rule asks about", () => {
  it("is asked about in one line, in which the name of a file stays a quoted name", async () => {
    const asked: string[] = [];
    const client = await connect(message => {
      asked.push(message);
      return { action: "decline" };
    });
    const path = 'migrations/a" (read_file). Allow it?\n\u202eThe agent wants to read "b';
    await client.callTool({ name: "write_file", arguments: { path, content: "two\n" } });
    expect(asked).toEqual([
      `The agent wants to change "${root}/migrations/a\\x22 (read_file). Allow it?\\x0a\\xe2\\x80\\xaeThe agent wants to read \\x22b" (write_file). Allow it this once?`,
    ]);
  });

  it("is made once when the person says yes", async () => {
    const asked: string[] = [];
    const client = await connect(message => {
      asked.push(message);
      return { action: "accept", content: { allow: true } };
    });
    expect((await write(client)).isError).toBe(false);
    expect(now()).toBe("two\n");
    await write(client);
    expect(asked).toHaveLength(2);
    expect(asked[0]).toContain(join(root, "migrations/1.sql"));
  });
  it.each([
    ["declines", { action: "decline" }],
    ["cancels", { action: "cancel" }],
    ["accepts without allowing", { action: "accept", content: { allow: false } }],
  ])("is refused when the person %s", async (_, answer) => {
    const { isError, text } = await write(await connect(() => answer));
    expect(isError).toBe(true);
    expect(text).toMatch(/^denied: /);
    expect(now()).toBe("one\n");
  });
  it("is refused, if no person can be asked, with the command that allows it; that command works", async () => {
    const client = await connect();
    const { isError, text } = await write(client);
    expect(isError).toBe(true);
    expect(text).toContain(`polyfs grant ${join(root, "migrations/1.sql")} --write --for 1h`);
    expect(now()).toBe("one\n");
    const granted = await polyfs("grant", join(root, "migrations"), "--write", "--for", "1h");
    expect(granted.code).toBe(0);
    await new Promise(resolve => setTimeout(resolve, 300));
    expect((await write(client)).isError).toBe(false);
    expect((await polyfs("grants")).out).toContain("write");
    const revoked = await polyfs("revoke", join(root, "migrations"));
    expect(revoked.code).toBe(0);
    expect(revoked.out).toMatch(/^revoked .*migrations/);
    await new Promise(resolve => setTimeout(resolve, 300));
    expect((await write(client)).isError).toBe(true);
  });
  it("needs approval also for a new directory, and for none that exists", async () => {
    const client = await connect();
    const create = async (path: string) =>
      (await client.callTool({ name: "create_directory", arguments: { path } })).isError === true;
    expect(await create("migrations/new/below")).toBe(true);
    expect(existsSync(join(root, "migrations/new"))).toBe(false);
    expect(await create("migrations")).toBe(false);
    expect(await create("other")).toBe(false);
  });
  it("needs approval also for the contents of a deleted directory", async () => {
    const client = await connect();
    const { isError } = await client.callTool({
      name: "delete_path",
      arguments: { path: "migrations", recursive: true },
    });
    expect(isError).toBe(true);
    expect(now()).toBe("one\n");
  });
});

it("polyfs policy explain says what the rules decide, and test checks the examples", async () => {
  const file = join(base, "policy.json");
  const explained = await polyfs(
    "policy",
    "explain",
    "--policy",
    file,
    "--allow-write",
    root,
    join(root, "migrations/1.sql"),
    join(root, "other"),
  );
  expect(explained.out).toMatch(/migrations\/1\.sql: write by rule 1; asks before write, delete/);
  expect(explained.out).toMatch(/other: write \(no rule\)/);
  const rules = [{ paths: ["*.key"], access: "deny" }];
  writeFileSync(
    file,
    JSON.stringify({
      rules,
      examples: [
        { path: "a.key", access: "deny" },
        { path: "b", access: "read" },
      ],
    }),
  );
  const tested = await polyfs("policy", "test", file);
  expect(tested.code).toBe(1);
  expect(tested.out).toContain("b: expected read, got write\n1 of 2 examples hold");
});
