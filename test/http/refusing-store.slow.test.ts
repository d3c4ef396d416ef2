// What callers of a workspace see while PostgreSQL takes no changes, or answers no questions: a standby, lost rights, a
// server that is down.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, describe, expect, it, vi } from "vitest";
import { polyfs } from "../cli/program.ts";
import { startPostgres } from "../store/postgres-server.ts";
import { tree } from "./fixture.ts";
import { startWith } from "./started-program.ts";
import { modern } from "./wire.ts";

const server = await startPostgres(["fsync=off", "full_page_writes=off"]);
afterAll(async () => await server?.[Symbol.asyncDispose]());

const patience = { timeout: 60_000, interval: 100 };
const tables = ["object", "workspace", "entry", "reference", "schema"].map(name => `polyfs_${name}`).join();

/** As the owner of the tables, who is not the user of the server. */
async function owner(text: string): Promise<void> {
  const client = new pg.Client(server?.url);
  await client.connect();
  await client.query(text);
  await client.end();
}

async function served() {
  const base = tree();
  const env = { POLYFS_STORE: `${server?.url}`, POLYFS_STATE_DIR: join(base, "s") };
  polyfs(["store", "migrate"], { env });
  await owner(`do $$ begin create role app login; exception when duplicate_object then null; end $$`);
  await owner(`grant all on ${tables} to app`);
  const from = join(base, "from");
  mkdirSync(from);
  writeFileSync(join(from, "f.txt"), "text\n");
  const name = `w${base
    .slice(-6)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "x")}`;
  polyfs(["workspace", "create", name, from, "--workspaces", join(base, "cli")], { env });
  const asApp = { ...env, POLYFS_STORE: env.POLYFS_STORE.replace("polyfs@", "app@") };
  const program = await startWith(asApp, "--workspaces", join(base, "a"));
  const call = async (tool: string, args: Record<string, unknown>) => {
    const params = { name: tool, arguments: args };
    const { message, body } = await modern(`${program.url}/mcp/w/${name}`, "tools/call", params);
    const { content } = (message.result ?? {}) as { content?: { text: string }[] };
    return content?.map(({ text }) => text).join("\n") ?? body;
  };
  const read = () => call("read_file", { path: "f.txt" });
  const write = (path: string) => call("write_file", { path, content: "x\n" });
  return { program, read, write };
}

describe.skipIf(server === undefined)("a workspace whose store", () => {
  it("takes no changes is read as it is; a refused change says why, and the log says it once", async () => {
    const { program, read, write } = await served();
    expect(await read()).toContain("1: text");
    await owner(`revoke insert, update, delete on ${tables} from app`);
    for (let i = 0; i < 3; i++) {
      expect(await write("g.txt")).toMatch(/lacks rights/);
      expect(await read()).not.toContain("cannot be reached");
    }
    expect(program.said().match(/takes no changes/g)).toHaveLength(1);
    expect(program.said()).not.toContain("reached again");
    await owner(`grant all on ${tables} to app`);
    expect(await write("g.txt")).toContain("created g.txt");
    expect(program.said()).toContain("takes changes again");
  });

  it.each([
    ["denies everything", () => owner(`revoke all on ${tables} from app`)],
    [
      "refuses the user",
      () =>
        owner(
          "alter role app nologin; select pg_terminate_backend(pid) from pg_stat_activity where usename = 'app'",
        ),
    ],
    ["is down", async () => await server?.stop?.()],
  ])("%s is read from the copy, which says so, and changes are refused", async (what, lose) => {
    const { program, read, write } = await served();
    expect(await read()).toContain("1: text");
    await lose();
    for (let i = 0; i < 3; i++) expect(await read()).toMatch(/1: text\n.*shared store cannot be reached/s);
    expect(await write("g.txt")).toMatch(/^io: The shared store .*Nothing was changed/s);
    expect(program.said()).not.toMatch(/a request (failed|was refused)/);
    if (what === "is down") await server?.start?.();
    else await owner(`alter role app login; grant all on ${tables} to app`);
    await vi.waitFor(async () => expect(await read()).not.toContain("cannot be reached"), patience);
    expect(await write("g.txt")).toContain("created g.txt");
  });

  it("cannot be asked, and that was not entered before, is refused; the log says why", async () => {
    const { program, read } = await served();
    await owner(`revoke all on ${tables} from app`);
    expect(await read()).toContain("shared store cannot be used now");
    expect(program.said()).toMatch(/a request was refused: .*rights: permission denied for table/);
    await owner(`grant all on ${tables} to app`);
    await vi.waitFor(async () => expect(await read()).toContain("1: text"), patience);
  });
});
