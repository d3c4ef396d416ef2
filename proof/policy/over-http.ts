// The same tree over HTTP, with traces, metrics, an audit log and a log: a secret must be in none of them, and in no
// file that the server leaves behind, except the contents that history keeps for undo.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, relative } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Dialect } from "../../src/contract/dialect.ts";
import { initialize, legacy, send } from "../../test/http/wire.ts";
import { carriersOf } from "../attack/carriers.ts";
import { codeCache, program } from "../places.ts";
import type { Trial } from "../suite.ts";
import { idioms } from "./commands.ts";
import { Field, ruled } from "./field.ts";
import { spellings } from "./spellings.ts";

export async function tryOverHttp(dialects: readonly Dialect[], runs: boolean, trial: Trial): Promise<void> {
  const { tally, long, chance } = trial;
  if (!tally.wants("http")) return;
  using field = new Field(12);
  await using collector = await collect();
  const server = await serve(field, collector.url, runs);
  const check = (what: string, text: string) => {
    if (field.isIn(text)) throw new Error(`the secret is in ${what}: ${text.slice(0, 600)}`);
  };
  let id = 0;
  try {
    for (const dialect of dialects) {
      const url = `${server.url}/mcp/${dialect.name}`;
      const session = await initialize(url);
      const call = async (name: string, args: unknown) => {
        const message = { id: ++id, method: "tools/call", params: { name, arguments: args } };
        const { body } = await legacy(url, message, session);
        check(`an answer of ${name}`, body);
        const damage = field.damage();
        field.renew();
        if (damage !== undefined) throw new Error(`${damage} by ${name}`);
      };
      const { root } = field;
      const at = (name: string) => (dialect.name === "fs" ? name : `${root}/${name}`);
      const places = {
        file: at("pub.txt"),
        fresh: at("fresh.txt"),
        directory: dialect.name === "fs" ? "." : root,
      };
      for (const tool of dialect.tools.filter(({ name }) => name !== "set_workspace"))
        for (const { name: carrier, args } of carriersOf(tool, places))
          for (const name of ruled)
            for (const [j, path] of spellings(root, name).entries()) {
              if (chance.next() >= (long ? 0.5 : j < 2 ? 0.025 : 0.004)) continue;
              const what = `http ${dialect.name} ${tool.name} ${carrier} ${path.replace(root, "")}`;
              await tally.attempt(what, () => call(tool.name, args(path)));
            }
      const running = dialect.tools.filter(
        ({ effect, input }) => effect === "runs" && "command" in input.properties,
      );
      for (const { name } of runs ? running : [])
        for (const command of long ? idioms : idioms.slice(-1))
          await tally.attempt(`http ${dialect.name} ${name} ${command.slice(0, 40)}`, () =>
            call(name, { command }),
          );
    }
    await tally.attempt("http metrics", async () => {
      const { body } = await send(`${server.url}/metrics`);
      if (!body.includes("polyfs_calls_total")) throw new Error(`no metrics: ${body.slice(0, 200)}`);
      check("the metrics", body);
    });
  } finally {
    await server.stop();
  }
  await tally.attempt("http traces", () => {
    if (collector.bodies.length === 0) throw new Error("no traces came");
    for (const body of collector.bodies) check("a trace", body);
  });
  await tally.attempt("http audit log", () => check("the audit log", field.audit));
  await tally.attempt("http log", () => check("the log", server.said()));
  await tally.attempt("http files left behind", () => {
    for (const path of left(field)) check(relative(field.base, path), readFileSync(path, "latin1"));
  });
}

/** What the server wrote: spilled output, records, locks. The kept contents are what undo restores. */
function left({ base, root }: Field): string[] {
  const skipped = [root, join(base, "state/objects")];
  const files = (directory: string): string[] =>
    skipped.includes(directory)
      ? []
      : readdirSync(directory, { withFileTypes: true }).flatMap(entry => {
          const path = join(directory, entry.name);
          return entry.isDirectory() ? files(path) : entry.isFile() ? [path] : [];
        });
  return files(base);
}

interface Collector extends AsyncDisposable {
  readonly url: string;
  readonly bodies: readonly string[];
}

/** Takes traces as a collector does. */
async function collect(): Promise<Collector> {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    bodies.push(
      (request.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes).toString("latin1"),
    );
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

async function serve(field: Field, collector: string, runs: boolean) {
  const args = [
    "--http",
    "0",
    "--log-level",
    "debug",
    ...field.options,
    ...(runs ? ["--allow-run"] : []),
    field.root,
  ];
  const env = {
    ...process.env,
    HOME: field.base,
    POLYFS_CODE_CACHE: codeCache,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector,
    OTEL_BSP_SCHEDULE_DELAY: "500",
  };
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  const ended = new Promise<void>(resolve => child.once("close", () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
      const [found] = /http:\/\/[^/\s]+(?=\/mcp.*\n)/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => reject(new Error(`the server ended: ${said}`)));
  });
  return {
    url,
    said: () => said,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
