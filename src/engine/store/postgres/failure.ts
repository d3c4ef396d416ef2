// What PostgreSQL and the network say, as failures of the store that say what to do.
import { Fault, type StoreFailure } from "../../fault.ts";

/** By SQLSTATE, the longest beginning that fits. */
const reasons: Readonly<Record<string, StoreFailure>> = {
  "28": "credentials",
  "42501": "rights",
  "25006": "read_only",
  "53": "full",
  "53300": "unreachable", // too many connections
  "54": "full",
  "23505": "damaged", // an entry is there already, after the head of its log
  "22003": "damaged", // a number that cannot grow any more
  "3D000": "invalid", // no such database
  "42P01": "schema",
  "42703": "schema",
  "08": "unreachable",
  "57": "unreachable", // shutting down, starting up, cancelled
  "58": "full", // the system it runs on fails
  XX: "damaged",
};

/** Worth another attempt: the connection broke, or the server is being restarted or replaced. */
export function isPassing(error: unknown): boolean {
  if (Fault.is(error, "store_unavailable")) return error.data.reason === "unreachable";
  return reasonOf(error) === "unreachable";
}

export function failureOf(error: unknown): unknown {
  if (error instanceof Fault) return error;
  const reason = reasonOf(error);
  const { message, code } = error as { readonly message?: string; readonly code?: string };
  const detail = message || code || String(error);
  return new Fault("store_unavailable", { reason, detail }, { cause: error });
}

function reasonOf(error: unknown): StoreFailure {
  const { code = "", message = "" } = error as { readonly code?: string; readonly message?: string };
  // Node's errors have names, the database's have five characters.
  if (!/^[0-9A-Z]{5}$/.test(code) || code === "EPIPE")
    return /certificate|self.signed|SSL|TLS/i.test(`${message} ${code}`) ? "credentials" : "unreachable";
  for (let length = 5; length >= 2; length--) {
    const reason = reasons[code.slice(0, length)];
    if (reason !== undefined) return reason;
  }
  return "invalid";
}
