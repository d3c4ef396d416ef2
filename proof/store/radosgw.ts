// A Ceph object gateway of the suite's own: Debian's packages (radosgw, ceph-mon, ceph-mgr, ceph-osd), one daemon of each
// on loopback, its disk a file in a temporary directory. It is the S3 service with atomic conditional writes that needs
// no network.
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

export interface ObjectGateway extends AsyncDisposable {
  readonly endpoint: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** `radosgw --version`. */
  readonly version: string;
}

const programs = ["radosgw", "radosgw-admin", "ceph", "ceph-mon", "ceph-osd", "ceph-mgr", "ceph-authtool"];

/** Undefined if Ceph is not installed. */
export async function startGateway(): Promise<ObjectGateway | undefined> {
  if (programs.some(name => spawnSync(name, ["--version"], { stdio: "ignore" }).error !== undefined))
    return undefined;
  const gateway = new Gateway(await freePort(), await freePort());
  try {
    await gateway.start();
    return gateway;
  } catch (error) {
    await gateway[Symbol.asyncDispose]();
    throw error;
  }
}

class Gateway implements ObjectGateway {
  readonly #directory = mkdtempSync(join(tmpdir(), "polyfs-ceph-"));
  readonly #configuration = join(this.#directory, "ceph.conf");
  readonly #keyring = join(this.#directory, "keyring");
  readonly #children: ChildProcess[] = [];
  readonly #monitor: number;
  readonly endpoint: string;
  readonly accessKey = randomBytes(10).toString("hex");
  readonly secretKey = randomBytes(20).toString("hex");
  readonly version = execFileSync("radosgw", ["--version"], { encoding: "utf8" }).trim();

  constructor(monitor: number, port: number) {
    this.#monitor = monitor;
    this.endpoint = `http://127.0.0.1:${port}`;
    const fsid = randomUUID();
    for (const name of ["mon", "osd", "mgr", "run", "rgw"]) mkdirSync(join(this.#directory, name));
    writeFileSync(this.#configuration, configuration(this.#directory, fsid, monitor, port));
    const keys = (...args: string[]) => this.#run("ceph-authtool", ...args);
    const caps = ["--cap", "mon", "allow *", "--cap", "osd", "allow *", "--cap", "mgr", "allow *"];
    keys("--create-keyring", this.#keyring, "--gen-key", "-n", "mon.", "--cap", "mon", "allow *");
    keys(this.#keyring, "--gen-key", "-n", "client.admin", ...caps);
    const own = join(this.#directory, "rgw.keyring");
    keys("--create-keyring", own, "--gen-key", "-n", "client.rgw.a", ...caps.slice(0, 6));
    const map = join(this.#directory, "monmap");
    this.#run("monmaptool", "--create", "--addv", "a", `[v1:127.0.0.1:${monitor}]`, "--fsid", fsid, map);
  }

  async start(): Promise<void> {
    const [map, keyring] = [join(this.#directory, "monmap"), this.#keyring];
    this.#run(
      "ceph-mon",
      "-c",
      this.#configuration,
      "--mkfs",
      "-i",
      "a",
      "--monmap",
      map,
      "--keyring",
      keyring,
    );
    this.#daemon("ceph-mon", "-i", "a");
    await listening(this.#monitor);
    const uuid = randomUUID();
    this.#run("ceph", "-c", this.#configuration, "-k", keyring, "osd", "new", uuid, "0");
    this.#run("ceph-osd", "-c", this.#configuration, "-i", "0", "--mkfs", "--mkkey", "--osd-uuid", uuid);
    this.#daemon("ceph-osd", "-i", "0");
    this.#daemon("ceph-mgr", "-i", "a");
    this.#daemon("radosgw", "-n", "client.rgw.a");
    await listening(Number(new URL(this.endpoint).port));
    const keys = ["--access-key", this.accessKey, "--secret-key", this.secretKey];
    const user = ["user", "create", "--uid", "polyfs", "--display-name", "polyfs", ...keys];
    this.#run("radosgw-admin", "-c", this.#configuration, "-n", "client.rgw.a", ...user);
  }

  #run(program: string, ...args: readonly string[]): void {
    execFileSync(program, args, { stdio: ["ignore", "ignore", "pipe"], timeout: 120_000 });
  }

  #daemon(program: string, ...args: readonly string[]): void {
    const line = ["-f", "-c", this.#configuration, ...args];
    this.#children.push(spawn(program, line, { stdio: "ignore" }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) {
      const ended = new Promise(resolve => child.once("close", resolve));
      if (child.exitCode === null && child.kill("SIGKILL")) await ended;
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Without cephx: `ms_mon_client_mode` must allow `crc` then, or the gateway is refused. */
function configuration(directory: string, fsid: string, monitor: number, port: number): string {
  return `[global]
fsid = ${fsid}
mon_host = v1:127.0.0.1:${monitor}
mon_initial_members = a
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
ms_mon_client_mode = crc secure
ms_bind_msgr2 = false
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 8
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_warn_on_pool_no_redundancy = false
mon_data_avail_crit = 1
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
run_dir = ${directory}/run
log_file = ${directory}/$name.log
admin_socket = ${directory}/run/$name.asok
pid_file = ${directory}/run/$name.pid
mon_data = ${directory}/mon
osd_data = ${directory}/osd
mgr_data = ${directory}/mgr
rgw_data = ${directory}/rgw
osd_objectstore = bluestore
bluestore_block_size = 8589934592
osd_memory_target = 1073741824
[client.rgw.a]
keyring = ${directory}/rgw.keyring
rgw_frontends = beast endpoint=127.0.0.1:${port}
`;
}

async function listening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    const connected = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      error => (error as { cause?: { code?: string } }).cause?.code !== "ECONNREFUSED",
    );
    if (connected) return;
    await setTimeout(200);
  }
  throw new Error(`nothing listens on port ${port}`);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise(resolve => server.close(resolve));
  return port;
}
