// Authentication by a token file. The file is checked with every request and every second: a removed token stops
// working, and the server stops whatever runs for it.
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { system } from "../../engine/workspace/errno.ts";
import type { PolicySource } from "../../engine/workspace/rules.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { WatchedFile } from "../../host/watched-file.ts";
import { fileProblem } from "../file-problem.ts";
import { Refusal } from "../http/refusal.ts";
import type { Log } from "../log.ts";
import { type Authenticator, bearer } from "./authenticator.ts";
import { Principal, type WorkspaceReach } from "./principal.ts";
import { permits, type Reach, reachOf } from "./reach.ts";
import { digest, parseTokens, type TokenRecord } from "./tokens-file.ts";

export interface TokensOptions {
  readonly file: string;
  readonly workspace: Workspace;
  readonly log: Log;
  /** Where a token does not say. */
  readonly perMinute?: number;
  readonly concurrency?: number;
  /** Whether workspaces are served: then a token need not name directories. */
  readonly workspaces?: boolean;
  /** The rules of a policy file. Throws if it cannot be used. */
  policy?(file: string): PolicySource;
}

/** How long calls of a removed token may continue while no request arrives. */
const lookMs = 1000;

interface KnownToken {
  readonly record: TokenRecord;
  readonly hash: Buffer;
  /** Made when the token is first used. */
  principal?: Principal;
}

export class Tokens implements Authenticator {
  readonly documents = new Map<string, string>();
  readonly #options: TokensOptions;
  readonly #file: WatchedFile;
  readonly #timer: NodeJS.Timeout;
  /** By the whole record: a changed one is a different principal. */
  #known = new Map<string, KnownToken>();
  /** The same by their blinded hashes, so that many tokens cost no more than one. */
  #lookup = new Map<string, KnownToken>();
  /** By the blinded tokens: those that were used, so that a later request takes one hash instead of two. */
  readonly #used = new Map<string, KnownToken>();
  readonly #blind = randomBytes(32);

  /** Throws if the file cannot be read, and says why. */
  constructor(options: TokensOptions) {
    this.#options = options;
    this.#file = new WatchedFile(options.file);
    const content = system(options.file, () => this.#file.changed());
    if (content?.text === undefined) throw new Error("there is no such file");
    this.#take(content.text);
    this.#timer = setInterval(() => this.refresh(), lookMs).unref();
  }

  identify(authorization: string | undefined): Principal {
    this.refresh();
    const token = bearer(authorization);
    if (token === undefined) throw unauthorized("Unauthorized: send a token (Authorization: Bearer ...)");
    const found = this.#find(token);
    if (found === undefined) throw unauthorized("Unauthorized: unknown token", "invalid_token");
    const { expires } = found.record;
    if (expires !== undefined && Date.parse(expires) <= Date.now())
      throw unauthorized("Unauthorized: the token has expired", "invalid_token");
    found.principal ??= this.#principal(found.record);
    return found.principal;
  }

  #find(token: string): KnownToken | undefined {
    const key = this.#blinded(Buffer.from(token));
    const used = this.#used.get(key);
    if (used !== undefined) return used;
    const presented = digest(token);
    const found = this.#lookup.get(this.#blinded(presented));
    if (found === undefined || !timingSafeEqual(found.hash, presented)) return undefined;
    this.#used.set(key, found);
    return found;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    for (const { principal } of this.#known.values()) principal?.end();
  }

  refresh(): void {
    const { log, file } = this.#options;
    try {
      const content = this.#file.changed();
      if (content === undefined) return;
      if (content.text === undefined) log.error(`${file} does not exist: no token is valid`);
      this.#take(content.text ?? '{"tokens":[]}');
    } catch (error) {
      log.error(`${file} has changed and cannot be read; the old tokens stay valid`, fileProblem(error));
    }
  }

  #take(text: string): void {
    const before = this.#known;
    this.#known = new Map(
      parseTokens(text, this.#options.file).map(record => {
        const key = JSON.stringify(record);
        const stored = Buffer.from(record.hash.slice("sha256:".length), "base64url");
        return [key, before.get(key) ?? { record, hash: stored }];
      }),
    );
    this.#used.clear();
    this.#lookup = new Map([...this.#known.values()].map(known => [this.#blinded(known.hash), known]));
    for (const [key, { principal }] of before) if (!this.#known.has(key)) principal?.end();
    this.#options.log.info(`${this.#known.size} tokens in ${this.#options.file}`);
  }

  /** Hashed with a secret of this process: how long a lookup takes then reveals nothing about what is looked up. */
  #blinded(secret: Buffer): string {
    return hash("sha256", Buffer.concat([this.#blind, secret]), "base64");
  }

  #principal(record: TokenRecord): Principal {
    const { name, dialect, expires, effects = ["reads", "writes"], tools } = record;
    return new Principal({
      owner: `token ${name} ${record.hash}`,
      name,
      ...this.#limited(record, effects),
      maxBytes: record.maxBytes,
      reviews: effects.includes("reviews") ? this.#reviewed(record) : undefined,
      reach: this.#workspaces(record, effects),
      dialect,
      expires: expires === undefined ? undefined : Date.parse(expires),
      perMinute: record.perMinute ?? this.#options.perMinute,
      concurrency: record.concurrency ?? this.#options.concurrency,
      browses: effects.includes("reads") && tools === undefined,
      permits: permits(effects, tools),
      refuse: tool => new Refusal(403, `Forbidden: this token does not permit ${tool.name}`),
    });
  }

  #limited(record: TokenRecord, effects: NonNullable<TokenRecord["effects"]>): Reach {
    const reach = this.#reach(record, effects);
    const { maxBytes } = record;
    return maxBytes === undefined ? reach : { ...reach, workspace: reach.workspace.limitedTo(maxBytes) };
  }

  /** The page undoes what agents did, whatever the token's own tools may do. */
  #reviewed(record: TokenRecord): Workspace {
    const { workspace, narrowed } = this.#reach(record, ["writes"]);
    return narrowed ? workspace : workspace.under({ current: () => [] });
  }

  /** A token that names directories is for those. */
  #workspaces(
    { roots, workspace, workspaceId, policy }: TokenRecord,
    effects: NonNullable<TokenRecord["effects"]>,
  ): WorkspaceReach | undefined {
    if (roots !== undefined) return undefined;
    const access = effects.includes("writes") ? "read-write" : "read-only";
    return {
      access,
      only: workspace,
      id: workspaceId,
      rules: policy === undefined ? undefined : this.#options.policy?.(policy),
    };
  }

  #reach({ name, roots, policy }: TokenRecord, effects: NonNullable<TokenRecord["effects"]>): Reach {
    const { workspace, log } = this.#options;
    try {
      if (roots === undefined && workspace.roots.length === 0) {
        if (this.#options.workspaces) return { workspace, narrowed: false };
        throw new Error("it names no directory");
      }
      const reach = reachOf(workspace, roots, effects);
      const rules = policy && this.#options.policy?.(policy);
      if (!rules) return reach;
      const narrowed = reach.workspace.under(rules);
      if (reach.narrowed) reach.workspace[Symbol.dispose]();
      return { workspace: narrowed, narrowed: true };
    } catch (error) {
      log.error(`the directories of token ${name} cannot be served`, fileProblem(error));
      throw new Refusal(403, "Forbidden: the directories of this token cannot be served");
    }
  }
}

function unauthorized(message: string, error?: string): Refusal {
  const challenge = error === undefined ? "Bearer" : `Bearer error="${error}"`;
  return new Refusal(401, message, { headers: { "www-authenticate": challenge } });
}
