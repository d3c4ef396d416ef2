// The token file: who may call, and with which rights. It holds only hashes of tokens; each token is 256 random bits,
// so a plain hash is enough. An unknown key is refused: it may have been meant as a restriction.

import { hash, randomBytes } from "node:crypto";
import { dirname, resolve } from "node:path";
import { writtenDate } from "../../engine/text/written-date.ts";
import type { Grant } from "../../engine/workspace/grant.ts";
import { tokenPrefix } from "../../host/masked-tokens.ts";
import { parseStrictJson } from "../../host/strict-json.ts";
import { isRecord } from "../jsonrpc.ts";
import type { TokenEffect } from "./reach.ts";

export interface TokenRecord {
  readonly name: string;
  /** `sha256:` and the hash in base64url. */
  readonly hash: string;
  /** Absent: everything that is served. */
  readonly roots?: readonly Grant[];
  /** Absent: reads and writes. */
  readonly effects?: readonly TokenEffect[];
  /** Absent: all that the effects permit. */
  readonly tools?: readonly string[];
  readonly dialect?: string;
  /** The workspace that it is for, with the forks of it. */
  readonly workspace?: string;
  /** The id that it had when the token was made; absent: that of the first use. */
  readonly workspaceId?: string;
  /** A date and time, as in ISO 8601. */
  readonly expires?: string;
  readonly perMinute?: number;
  readonly concurrency?: number;
  /** The most bytes that a workspace may hold after a change of this token. */
  readonly maxBytes?: number;
  /** A policy file with rules of its own, which only narrow. */
  readonly policy?: string;
}

/** A new token: the one text that lets its holder in. */
export function newToken(): string {
  return tokenPrefix + randomBytes(32).toString("base64url");
}

export function digest(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

export function hashText(token: string): string {
  return `sha256:${digest(token).toString("base64url")}`;
}

const effects: readonly string[] = ["reads", "writes", "runs", "reviews"];

/** The expected value of each key, for error messages. */
const keys: Readonly<Record<keyof TokenRecord, readonly [(value: unknown) => boolean, string]>> = {
  name: [value => typeof value === "string" && /^[\w.@-]{1,100}$/.test(value), "letters, digits and . _ - @"],
  hash: [value => typeof value === "string" && /^sha256:[\w-]{43}$/.test(value), "sha256: and a hash"],
  roots: [value => listOf(value, isGrant), 'a list of {"path": ..., "access": "read-only" or "read-write"}'],
  effects: [value => listOf(value, one => effects.includes(String(one))), `a list of ${effects.join(", ")}`],
  tools: [value => listOf(value, one => typeof one === "string"), "a list of names"],
  dialect: [value => typeof value === "string", "a name"],
  workspace: [value => typeof value === "string" && /^[A-Za-z0-9][\w.-]{0,63}$/.test(value), "a name"],
  workspaceId: [value => typeof value === "string" && /^[\w.-]{1,100}$/.test(value), "the id of a workspace"],
  expires: [value => typeof value === "string" && !Number.isNaN(writtenDate(value)), "a date and time"],
  perMinute: [isCount, "a whole number, 1 or more"],
  concurrency: [isCount, "a whole number, 1 or more"],
  maxBytes: [isCount, "a whole number, 1 or more"],
  policy: [value => typeof value === "string" && value !== "", "the path of a policy file"],
};

/** Parses the file; relative directories start at its own. Throws an error that says what is wrong. */
export function parseTokens(text: string, path: string): TokenRecord[] {
  const content: unknown = parseStrictJson(text);
  if (!isRecord(content) || !Array.isArray(content.tokens)) throw new Error('it must be {"tokens": [...]}');
  const records = content.tokens.map((value, index) => {
    if (!isRecord(value)) throw new Error(`token ${index + 1} must be an object`);
    const name = typeof value.name === "string" ? JSON.stringify(value.name) : index + 1;
    for (const [key, given] of Object.entries(value)) {
      const [fits, expected] = Object.hasOwn(keys, key) ? keys[key as keyof TokenRecord] : [];
      if (fits === undefined) throw new Error(`token ${name} has an unknown key ${JSON.stringify(key)}`);
      if (!fits(given)) throw new Error(`"${key}" of token ${name} must be ${expected}`);
    }
    for (const key of ["name", "hash"]) {
      if (value[key] === undefined) throw new Error(`token ${name} has no "${key}"`);
    }
    // Every key was checked just now.
    const record = value as unknown as TokenRecord;
    const roots = record.roots?.map(({ path: at, access }) => ({ path: resolve(dirname(path), at), access }));
    const policy = record.policy && resolve(dirname(path), record.policy);
    return { ...record, ...(roots && { roots }), ...(policy && { policy }) };
  });
  const namesake = repeated(records, ({ name }) => name);
  if (namesake !== undefined) throw new Error(`there are two tokens named ${JSON.stringify(namesake.name)}`);
  const twin = repeated(records, one => one.hash);
  if (twin !== undefined) throw new Error(`token ${JSON.stringify(twin.name)} has the hash of another`);
  return records;
}

function repeated(records: readonly TokenRecord[], key: (record: TokenRecord) => string) {
  const seen = new Set<string>();
  return records.find(record => seen.size === seen.add(key(record)).size);
}

export function printTokens(records: readonly TokenRecord[]): string {
  return `${JSON.stringify({ tokens: records }, undefined, 2)}\n`;
}

function isGrant(value: unknown): value is Grant {
  if (!isRecord(value) || Object.keys(value).some(key => key !== "path" && key !== "access")) return false;
  return typeof value.path === "string" && (value.access === "read-only" || value.access === "read-write");
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

function listOf(value: unknown, fits: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(fits);
}
