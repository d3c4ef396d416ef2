// The protocol's revisions and its two eras. Up to 2025-11-25 a connection agrees on a revision once, by
// `initialize`; from 2026-07-28 on each request names its revision and the client's capabilities in `_meta` (the
// envelope), and nothing is remembered between requests.
import { beginning } from "../host/masked-tokens.ts";
import { InvalidParams, isRecord, RpcError } from "./jsonrpc.ts";

const legacyRevisions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
export const modernRevisions = ["2026-07-28"] as const;

export type ProtocolRevision = (typeof legacyRevisions)[number] | (typeof modernRevisions)[number];
export type Era = "legacy" | "modern";

/** What `initialize` agrees on with a client that asks for none that we know. */
export const defaultRevision: ProtocolRevision = "2025-11-25";
/** The revision of a caller that never negotiated one, as the protocol specifies for HTTP. */
export const unnamedRevision: ProtocolRevision = "2025-03-26";

const UnsupportedProtocolVersion = -32022;

const prefix = "io.modelcontextprotocol/";
const versionKey = `${prefix}protocolVersion`;
const capabilitiesKey = `${prefix}clientCapabilities`;
const clientKey = `${prefix}clientInfo`;
export const logLevelKey = `${prefix}logLevel`;
export const serverInfoKey = `${prefix}serverInfo`;

const logLevels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

export function eraOf(revision: ProtocolRevision): Era {
  return revision >= modernRevisions[0] ? "modern" : "legacy";
}

/** The answer to what `initialize` asks for: the same where we know it, else the newest that it can agree on. */
export function negotiate(requested: string): ProtocolRevision {
  return legacyRevisions.find(revision => revision === requested) ?? defaultRevision;
}

/** The metadata of a request of the modern era. */
export interface Envelope {
  readonly revision: ProtocolRevision;
  readonly client?: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
}

/** The envelope of a request; undefined if it claims none. An invalid claim is an error, never ignored. */
export function readEnvelope(params: unknown): Envelope | undefined {
  const meta = metaOf(params);
  if (meta === undefined || !Object.hasOwn(meta, versionKey)) return undefined;
  const { [versionKey]: version, [capabilitiesKey]: capabilities, [clientKey]: client } = meta;
  const { [logLevelKey]: logLevel } = meta;
  if (typeof version !== "string") throw malformed(versionKey, "expected a string");
  if (capabilities === undefined) throw malformed(capabilitiesKey, "missing");
  if (!isRecord(capabilities)) throw malformed(capabilitiesKey, "expected an object");
  if (client !== undefined && !isImplementation(client))
    throw malformed(clientKey, "expected a name and a version");
  if (logLevel !== undefined && !logLevels.includes(String(logLevel)))
    throw malformed(logLevelKey, "unknown level");
  const revision = modernRevisions.find(known => known === version);
  if (revision === undefined) throw unsupportedVersion(version);
  return { revision, capabilities, client: client && clientName(client) };
}

export function metaOf(params: unknown): Record<string, unknown> | undefined {
  return isRecord(params) && isRecord(params._meta) ? params._meta : undefined;
}

/** It is in every change and every line of the audit. */
const longestName = 200;

/** `name/version` of a client that introduces itself. */
export function clientName(client: unknown): string | undefined {
  return isImplementation(client) ? beginning(`${client.name}/${client.version}`, longestName) : undefined;
}

export function missingEnvelope(): RpcError {
  return new RpcError(
    InvalidParams,
    `Request is missing the required _meta envelope for protocol revision ${modernRevisions[0]} (${versionKey}, ${capabilitiesKey})`,
  );
}

/** `requested` is the version that the client asked for, if any. */
export function unsupportedVersion(requested?: string): RpcError {
  const supported = [...modernRevisions];
  return requested === undefined
    ? new RpcError(
        UnsupportedProtocolVersion,
        "Unsupported protocol version: the request did not name a protocol version",
        { supported },
      )
    : new RpcError(UnsupportedProtocolVersion, `Unsupported protocol version: ${requested}`, {
        supported,
        requested,
      });
}

function malformed(key: string, problem: string): RpcError {
  const message = `Invalid _meta envelope for protocol revision ${modernRevisions[0]}: ${key}: ${problem}`;
  return new RpcError(InvalidParams, message, { envelope: { key, problem } });
}

function isImplementation(value: unknown): value is { name: string; version: string } {
  return isRecord(value) && typeof value.name === "string" && typeof value.version === "string";
}
