// Several calls at once, from one server or two on the same tree: every acknowledged change is there, once, and a
// concurrent read sees one whole version.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessWire } from "../../test/mcp/wire.ts";
import type { Trial } from "../suite.ts";
import { end, ServerUnderTest, told } from "./server-under-test.ts";

export async function workTogether({ tally, long }: Trial): Promise<void> {
  const servers = { R023: 1, R024: 2 };
  for (const [id, count] of Object.entries(servers).filter(([id]) => tally.wants(id))) {
    const calls = long ? 400 : 40;
    await tally.attempt(`${id} (${calls} edits of one file at once, ${count} servers)`, async () => {
      await using server = new ServerUnderTest({ a: "" });
      const wires = await serveAll(server, count);
      const outcomes = await Promise.allSettled(
        Array.from({ length: calls }, (_, i) =>
          told(wires[i % count] as ProcessWire, "edit_file", {
            path: "a",
            edits: [{ insert_after: 0, new: `line ${i}\n` }],
          }),
        ),
      );
      const landed = readFileSync(join(server.root, "a"), "utf8").trim().split("\n").sort();
      const acknowledged = outcomes.flatMap(({ status }, i) => (status === "fulfilled" ? [`line ${i}`] : []));
      if (landed.join() !== acknowledged.sort().join())
        throw new Error(`${acknowledged.length} acknowledged, ${landed.length} landed`);
      if (acknowledged.length === 0) throw new Error("nothing was done");
      server.orderly();
    });
  }
  if (tally.wants("R027")) {
    const [clients, lines] = [long ? 8 : 4, long ? 1000 : 25];
    await tally.attempt(`R027 (${clients} servers append ${lines} lines each)`, async () => {
      await using server = new ServerUnderTest({ log: "" });
      const wires = await serveAll(server, clients);
      await Promise.all(
        wires.map(async (wire, client) => {
          for (let i = 0; i < lines; i++)
            await told(wire, "write_file", { path: "log", content: `${client}.${i}\n`, mode: "append" });
        }),
      );
      const found = readFileSync(join(server.root, "log"), "utf8").trim().split("\n");
      if (found.length !== clients * lines || new Set(found).size !== found.length)
        throw new Error(`${found.length} lines, ${new Set(found).size} of them different`);
    });
  }
  if (tally.wants("R028")) {
    const rounds = long ? 1000 : 40;
    await tally.attempt(`R028 (a reader during ${rounds} overwrites)`, async () => {
      const text = (version: number) => `${version}\n`.repeat(2000);
      await using server = new ServerUnderTest({ a: text(0) });
      const [writer, reader] = await serveAll(server, 2);
      if (writer === undefined || reader === undefined) throw new Error("there are no two servers");
      let over = false;
      const writing = (async () => {
        for (let i = 1; i <= rounds; i++) await told(writer, "write_file", { path: "a", content: text(i) });
        over = true;
      })();
      while (!over) {
        const seen = new Set(
          (await told(reader, "read_file", { path: "a", numbers: false })).match(/^\d+$/gm),
        );
        if (seen.size !== 1) throw new Error(`a mixture of ${[...seen].join(", ")}`);
      }
      await writing;
    });
  }
}

async function serveAll(server: ServerUnderTest, count: number): Promise<ProcessWire[]> {
  const wires = [];
  for (let i = 0; i < count; i++) wires.push(await server.serve());
  return wires;
}

/** The end of a server while it works: by its input, or by a signal. */
export async function endAtWork({ tally }: Trial): Promise<void> {
  for (const [id, story, stop] of [
    ["R042", "SIGTERM", (wire: ProcessWire) => void wire.child.kill("SIGTERM")],
    ["R043", "the end of its input", (wire: ProcessWire) => void wire.input.end()],
  ] as const) {
    if (!tally.wants(id)) continue;
    await tally.attempt(`${id} (${story} during writes)`, async () => {
      const text = (version: number) => `${version}\n`.repeat(100_000);
      await using server = new ServerUnderTest({ a: text(0) });
      const wire = await server.serve();
      const calls = [1, 2, 3, 4].map(i =>
        told(wire, "write_file", { path: "a", content: text(i) }).then(
          () => i,
          () => 0,
        ),
      );
      stop(wire);
      const { code } = await wire.exited();
      const acknowledged = Math.max(...(await Promise.all(calls)));
      const found = readFileSync(join(server.root, "a"), "utf8");
      const version = Number.parseInt(found, 10);
      if (found !== text(version) || version < acknowledged)
        throw new Error(`${acknowledged} acknowledged, ${version} found`);
      if (code !== 0) throw new Error(`it ended with ${code}`);
      const next = await server.serve();
      await told(next, "list_directory", {});
      await orderlySoon(server, next);
      await end(next);
    });
  }
}

/** On a busy disk a recovery may fail to flush in time. The server tries again a second later, with the next read. */
async function orderlySoon(server: ServerUnderTest, wire: ProcessWire): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      server.orderly();
      return;
    } catch (error) {
      if (tries === 20) throw error;
      await sleep(1100);
      await told(wire, "list_directory", {});
    }
  }
}

/** R018: fewer handles than calls. Each call is answered, and none of them keeps a handle. */
export async function runOutOfHandles({ tally }: Trial): Promise<void> {
  if (!tally.wants("R018")) return;
  await tally.attempt("R018 (64 handles, 200 calls at once)", async () => {
    await using server = new ServerUnderTest(
      Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`f${i}`, `text ${i}`])),
    );
    const wire = await server.serve({ before: ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh"] });
    const round = () =>
      Promise.all(
        Array.from({ length: 200 }, (_, i) => {
          const [name, args] =
            i % 5 === 0 ? ["search_text", { pattern: "text" }] : ["read_file", { path: `f${i % 50}` }];
          return wire.request("tools/call", { name, arguments: args });
        }),
      );
    const answers = await round();
    if (answers.some(({ error }) => error?.code === -32603)) throw new Error("a defect was told");
    if (!(await told(wire, "read_file", { path: "f1" })).includes("text 1"))
      throw new Error("f1 cannot be read");
    await told(wire, "write_file", { path: "f1", content: "still works" });
    server.orderly();
  });
}
