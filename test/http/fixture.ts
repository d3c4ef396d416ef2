// A real tree served over HTTP by the real dialects, within the test's process, on a free port of this machine.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { defaultSettings } from "../../src/contract/settings.ts";
import { dialects } from "../../src/dialects/index.ts";
import { type Engine, openEngine } from "../../src/engine/engine.ts";
import { type Authenticator, openAccess } from "../../src/mcp/auth/authenticator.ts";
import { Tokens } from "../../src/mcp/auth/tokens.ts";
import { hashText, newToken, printTokens, type TokenRecord } from "../../src/mcp/auth/tokens-file.ts";
import { type HttpOptions, serveHttp } from "../../src/mcp/http/serve.ts";
import { createLog } from "../../src/mcp/log.ts";

/** A temporary directory with these files, gone after the test. */
export function tree(files: Readonly<Record<string, string>> = {}): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-http-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(root, name, ".."), { recursive: true });
    writeFileSync(join(root, name), content);
  }
  return root;
}

export interface Fixture {
  readonly url: string;
  readonly engine: Engine;
  /** Everything that was logged. */
  readonly logged: string[];
  close(): Promise<void>;
}

export interface FixtureOptions extends Partial<Omit<HttpOptions, "access" | "engine">> {
  access?(engine: Engine, log: HttpOptions["log"]): Authenticator;
}

export async function serve(roots: readonly string[], options: FixtureOptions = {}): Promise<Fixture> {
  const state = tree();
  const logged: string[] = [];
  const log = createLog("debug", line => logged.push(line));
  const engine = openEngine({ roots: roots.map(path => ({ path, access: "read-write" })), state });
  const service = await serveHttp({
    address: { host: "127.0.0.1", port: 0 },
    authenticated: options.access !== undefined,
    engine,
    dialects,
    settings: () => ({ ...defaultSettings, commands: "none" }),
    info: { name: "polyfs", version: "0" },
    log,
    graceMs: 5000,
    ...options,
    access: options.access?.(engine, log) ?? openAccess(engine.workspace),
  });
  let closed = false;
  const close = async () => {
    if (closed) return;
    closed = true;
    await service.close();
    engine[Symbol.dispose]();
  };
  onTestFinished(close);
  return { url: service.url, engine, logged, close };
}

export interface TokenFile {
  readonly file: string;
  /** Puts these into the file, and gives their tokens as headers, by name. */
  write(...records: readonly Omit<TokenRecord, "hash">[]): Record<string, { authorization: string }>;
}

export function tokenFile(): TokenFile {
  const file = join(tree(), "tokens.json");
  const secrets = new Map<string, string>();
  const secretOf = (name: string) => {
    const secret = secrets.get(name) ?? newToken();
    secrets.set(name, secret);
    return secret;
  };
  return {
    file,
    write(...records) {
      writeFileSync(
        file,
        printTokens(records.map(record => ({ ...record, hash: hashText(secretOf(record.name)) }))),
      );
      return Object.fromEntries(
        records.map(({ name }) => [name, { authorization: `Bearer ${secretOf(name)}` }]),
      );
    },
  };
}

export function byTokens({ file }: TokenFile): Required<FixtureOptions>["access"] {
  return ({ workspace }, log) => new Tokens({ file, workspace, log });
}
