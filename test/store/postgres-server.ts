// A PostgreSQL of the tests' own: the installed one, in a temporary directory, on a socket and a port of its
// own. `POLYFS_TEST_POSTGRES` names another one, where schemas can be created.
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

export interface PostgresServer extends AsyncDisposable {
  /** Of a user who may do everything. */
  readonly url: string;
  /** Stops it at once, or with kill -9, and starts it again: it has to recover. Absent for a server that is not ours. */
  restart?(signal?: "SIGQUIT" | "SIGKILL"): Promise<void>;
  stop?(signal?: "SIGQUIT" | "SIGKILL"): Promise<void>;
  start?(): Promise<void>;
  readonly directory?: string;
}

/** Undefined if none can be had. `parent` is where its directory is made. */
export async function startPostgres(
  settings: readonly string[] = [],
  parent = tmpdir(),
): Promise<PostgresServer | undefined> {
  const given = process.env.POLYFS_TEST_POSTGRES;
  if (given !== undefined) return { url: given, async [Symbol.asyncDispose]() {} };
  const programs = installed();
  if (programs === undefined) return undefined;
  const directory = mkdtempSync(join(parent, "polyfs-pg-"));
  chmodSync(directory, 0o755);
  const user = unprivileged();
  if (user !== undefined) chownSync(directory, user.uid, user.gid);
  const data = join(directory, "data");
  const quiet = { ...user, stdio: "ignore" as const, cwd: directory };
  execFileSync(join(programs, "initdb"), ["-D", data, "-A", "trust", "-U", "polyfs", "--no-sync"], quiet);
  const port = await freePort();
  const url = `postgres://polyfs@127.0.0.1:${port}/postgres`;
  const options = [
    "listen_addresses=127.0.0.1",
    `port=${port}`,
    `unix_socket_directories=${directory}`,
    ...settings,
  ];
  let server: ChildProcess | undefined;
  const launch = () =>
    spawn(join(programs, "postgres"), ["-D", data, ...options.flatMap(one => ["-c", one])], quiet);
  const start = async () => {
    if (server === undefined || hasEnded(server)) server = launch();
    const ready = () =>
      spawnSync(join(programs, "pg_isready"), ["-q", "-h", "127.0.0.1", "-p", String(port)]).status === 0;
    for (let i = 0; !ready(); i++) {
      if (i > 600) throw new Error("PostgreSQL does not start");
      // It refuses to start as long as processes of one that was killed hold its memory.
      if (hasEnded(server) && i % 10 === 9) server = launch();
      await setTimeout(50);
    }
  };
  const stop = async (signal: "SIGQUIT" | "SIGKILL" = "SIGQUIT") => {
    const own = server;
    if (own === undefined || hasEnded(own)) return;
    const ended = new Promise(resolve => own.once("exit", resolve));
    own.kill(signal);
    await ended;
  };
  try {
    await start();
  } catch (error) {
    await stop();
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
  return {
    ...{ url, directory, start, stop },
    async restart(signal) {
      await stop(signal);
      await start();
    },
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function installed(): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const places = [
    ...versions.map(one => join(debian, one, "bin")),
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/usr/bin",
  ];
  return places.find(place => existsSync(join(place, "initdb")));
}

/** PostgreSQL refuses to run as root. */
function unprivileged(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    const id = (flag: string) => Number(spawnSync("id", [flag, name], { encoding: "utf8" }).stdout);
    if (id("-u") > 0) return { uid: id("-u"), gid: id("-g") };
  }
  return undefined;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise(resolve => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
