// TLS to PostgreSQL, with certificates of the tests' own: what each sslmode accepts and refuses.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { PostgresStore } from "../../src/engine/store/postgres/postgres-store.ts";
import { startPostgres } from "./postgres-server.ts";

const folder = mkdtempSync(join(tmpdir(), "polyfs-tls-"));
chmodSync(folder, 0o755);
const at = (name: string) => join(folder, name);

/** A certificate for a name, which is its own authority. */
function certificate(name: string, subject: string): void {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const names = ["-subj", "/CN=polyfs test", "-addext", `subjectAltName=${subject}`];
  const files = ["-keyout", at(`${name}.key`), "-out", at(`${name}.crt`)];
  execFileSync("openssl", ["req", "-x509", "-days", "2", ...key, ...names, ...files], { stdio: "ignore" });
  chmodSync(at(`${name}.key`), 0o600);
  const id = (flag: string) => Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout);
  if (process.getuid?.() === 0 && id("-u") > 0) chownSync(at(`${name}.key`), id("-u"), id("-g"));
}

const hasTools = spawnSync("openssl", ["version"]).status === 0 && !process.env.POLYFS_TEST_POSTGRES;
if (hasTools) {
  certificate("server", "IP:127.0.0.1");
  certificate("other", "IP:127.0.0.1");
}
const settings = ["ssl=on", `ssl_cert_file=${at("server.crt")}`, `ssl_key_file=${at("server.key")}`];
const server = hasTools ? await startPostgres(["fsync=off", ...settings]) : undefined;
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(server === undefined)("TLS to PostgreSQL", () => {
  const url = server?.url ?? "";
  /** Whether the connection is protected, or why there is none. */
  async function attempt(parameters: string, address = url): Promise<string> {
    try {
      await PostgresStore.migrate(`${address}?${parameters}`);
      await using store = await PostgresStore.open(`${address}?${parameters}`, { patienceMs: 5000 });
      return (await store.isEncrypted()) ? "encrypted" : "plain";
    } catch (error) {
      const { data } = error as { data?: { reason: string; detail: string } };
      return data === undefined ? String(error) : `${data.reason}: ${data.detail}`;
    }
  }

  it("each sslmode means what it means to libpq", async () => {
    expect(await attempt("sslmode=disable")).toBe("plain");
    expect(await attempt("sslmode=require")).toBe("encrypted");
    const ours = `sslrootcert=${at("server.crt")}`;
    expect(await attempt(ours)).toBe("encrypted");
    expect(await attempt(`sslmode=verify-full&${ours}`)).toBe("encrypted");
    expect(await attempt(`sslmode=verify-ca&${ours}`)).toBe("encrypted");
  });

  it("an untrusted certificate, or one for another name, is refused with the reason", async () => {
    const theirs = `sslrootcert=${at("other.crt")}`;
    for (const mode of ["verify-full", "verify-ca"])
      expect(await attempt(`sslmode=${mode}&${theirs}`)).toMatch(/^credentials: .*certificate/);
    expect(await attempt("sslmode=verify-full")).toMatch(/^credentials: .*self.signed/);
    const byName = url.replace("127.0.0.1", "localhost");
    const ours = `sslrootcert=${at("server.crt")}`;
    expect(await attempt(`sslmode=verify-full&${ours}`, byName)).toMatch(/^credentials: .*localhost/);
    expect(await attempt(`sslmode=verify-ca&${ours}`, byName)).toBe("encrypted");
    expect(await attempt("sslrootcert=/nowhere.crt")).toMatch(/^invalid: .*sslrootcert/);
  });
});
