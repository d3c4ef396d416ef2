// What a change costs in a shared store: `node bench/run.mjs store [--changes N]`. A store in a directory, in PostgreSQL, and
// on Ceph's radosgw where that is installed. On each, a replica makes changes of one kind after the other, and what
// the store holds afterwards is compared with what it held before.
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { startGateway } from "../proof/store/radosgw.ts";
import { openReplica } from "../src/engine/replica/open-replica.ts";
import { migrateStore, openWorkspaceStore } from "../src/engine/store/open-store.ts";
import { S3Bucket } from "../src/engine/store/s3/bucket.ts";
import { signed } from "../src/engine/store/s3/signature.ts";
import { Workspace } from "../src/engine/workspace/workspace.ts";
import { startPostgres } from "../test/store/postgres-server.ts";

const at = process.argv.indexOf("--changes");
const changes = at < 0 ? 300 : Number(process.argv[at + 1]);
const scratch = mkdtempSync(join(tmpdir(), "polyfs-bench-store-"));
/** Program text, as agents write it: it matters where contents are compressed. */
const sources = join(fileURLToPath(new URL("../..", import.meta.url)), "src/engine/replica");
const all = readdirSync(sources)
  .map(name => readFileSync(join(sources, name), "utf8"))
  .join("");
const text = (from: number, bytes: number) => all.slice(from).padEnd(bytes, all).slice(0, bytes);

/** What a store holds, by name: numbers that grow. */
type Holdings = Readonly<Record<string, number>>;

interface Measured {
  readonly name: string;
  readonly url: string;
  readonly holds: () => Promise<Holdings>;
}

const kinds: readonly [what: string, change: (workspace: Workspace, i: number) => Promise<unknown>][] = [
  [
    "a line of a file of 3 KB",
    (workspace, i) =>
      workspace.edit(workspace.at("f.txt"), bytes => Buffer.from(String(bytes).replace(/^.*/, `edit ${i}`))),
  ],
  [
    "a line of a file of 100 KB",
    (workspace, i) =>
      workspace.edit(workspace.at("big.txt"), bytes =>
        Buffer.from(String(bytes).replace(/^.*/, `edit ${i}`)),
      ),
  ],
  [
    "a new file of 1 KB",
    (workspace, i) => {
      const path = workspace.at(`new/n${i}.txt`);
      return workspace.commit([{ kind: "write", path, bytes: Buffer.from(text(37 * i, 1000)) }], {
        parents: true,
      });
    },
  ],
  [
    "a file renamed",
    (workspace, i) =>
      workspace.commit([
        { kind: "move", from: workspace.at(`new/n${i}.txt`), to: workspace.at(`new/m${i}.txt`) },
      ]),
  ],
];

async function measure({ name, url, holds }: Measured): Promise<void> {
  await migrateStore({ store: url });
  const store = await openWorkspaceStore({ store: url });
  const root = join(scratch, `root-${name}`);
  const state = join(scratch, `state-${name}`);
  for (const path of [root, state]) mkdirSync(path, { mode: 0o700 });
  writeFileSync(join(root, "f.txt"), text(0, 3000));
  writeFileSync(join(root, "big.txt"), text(0, 100_000));
  const workspace = Workspace.open([{ path: root, access: "read-write" }], { state });
  const replica = await openReplica({ store, name: "w", workspace });
  const by = workspace.as({ action: "edit_file", client: "bench/1", connection: "c1" });
  console.log(`\n${name}, for each of ${changes} changes`);
  for (const [what, change] of kinds) {
    const [before, counted] = [await holds(), replica.storedBytes];
    for (let i = 0; i < changes; i++) await change(by, i);
    const after = await holds();
    const each = (number: number) => (Math.round((number / changes) * 10) / 10).toLocaleString("en");
    const grown = Object.entries(after).map(([key, now]) => `${key} ${each(now - (before[key] ?? 0))}`);
    console.log(
      `${what.padEnd(28)} counted bytes ${each(replica.storedBytes - counted)}; ${grown.join(", ")}`,
    );
  }
  await replica[Symbol.asyncDispose]();
  workspace[Symbol.dispose]();
  await store[Symbol.asyncDispose]();
}

async function inDirectory(): Promise<void> {
  const url = join(scratch, "store");
  const holds = async () => {
    const entries = readdirSync(url, { recursive: true, encoding: "utf8" }).map(one =>
      lstatSync(join(url, one)),
    );
    const files = entries.filter(one => one.isFile());
    const sum = (of: (one: (typeof entries)[number]) => number) =>
      files.reduce((total, one) => total + of(one), 0);
    return {
      files: files.length,
      bytes: sum(one => one.size),
      "bytes of disk": sum(one => one.blocks * 512),
    };
  };
  await measure({ name: "directory", url, holds });
}

async function inPostgres(): Promise<void> {
  await using server = await startPostgres(["full_page_writes=on", "autovacuum_naptime=1s"]);
  if (server === undefined) return console.log("\nPostgreSQL is not installed");
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const number = async (sql: string) =>
    Number((await client.query<{ n: string }>(`select ${sql} as n`)).rows[0]?.n);
  const tables = ["object", "entry", "reference", "workspace"].map(one => `polyfs_${one}`);
  const holds = async () => {
    const found: Record<string, number> = {};
    for (const table of tables.slice(0, 3))
      found[`rows of ${table}`] = await number(`(select count(*) from ${table})`);
    const sizes = tables.map(table => `pg_total_relation_size('${table}')`);
    found["bytes of tables and indexes"] = await number(sizes.join(" + "));
    found["bytes of write-ahead log"] = await number("pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')");
    return found;
  };
  await measure({ name: "postgres", url: server.url, holds });
  await client.end();
}

async function inBucket(): Promise<void> {
  await using gateway = await startGateway();
  if (gateway === undefined) return console.log("\nCeph is not installed");
  const { endpoint, accessKey, secretKey, version } = gateway;
  console.log(`\n${version}`);
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: accessKey, AWS_SECRET_ACCESS_KEY: secretKey });
  const made = { method: "PUT", url: new URL(`${endpoint}/polyfs`), headers: {} };
  const credentials = { accessKey, secretKey, region: "us-east-1" };
  await fetch(made.url, { method: "PUT", headers: signed(made, credentials, new Date()) });
  const url = `s3://polyfs/bench?endpoint=${encodeURIComponent(endpoint)}`;
  const bucket = S3Bucket.at(url);
  const holds = async () => {
    const found = { "keys of objects": 0, "keys of the log": 0, bytes: 0, "bytes of the log": 0 };
    for await (const { key, size } of bucket.list("")) {
      const isLog = key.startsWith("w/");
      found[isLog ? "keys of the log" : "keys of objects"]++;
      found.bytes += size;
      if (isLog) found["bytes of the log"] += size;
    }
    return found;
  };
  await measure({ name: "s3", url, holds });
}

try {
  console.log(`${process.arch}, load ${loadavg()[0]?.toFixed(1)}`);
  await inDirectory();
  await inPostgres();
  await inBucket();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
