// How the connection is protected, from the address: `sslmode` means what it means to libpq.
import { contentAt } from "../../workspace/disk/if-there.ts";

export interface Protection {
  readonly rejectUnauthorized: boolean;
  readonly ca?: string;
  readonly checkServerIdentity?: () => undefined;
}

/** In the order in which they are tried. */
export type Attempts = readonly (Protection | false)[];

const modes = ["disable", "prefer", "require", "verify-ca", "verify-full"];

/** Undefined for a mode that does not exist, or a certificate that cannot be read. */
export function protectionOf(url: URL): Attempts | undefined {
  const root = url.searchParams.get("sslrootcert");
  const ca = root === null || root === "system" ? undefined : contentAt(root)?.toString();
  if (root !== null && root !== "system" && ca === undefined) return undefined;
  const mode = url.searchParams.get("sslmode") ?? (root === null ? "prefer" : "verify-full");
  if (!modes.includes(mode)) return undefined;
  const unchecked: Protection = { rejectUnauthorized: false };
  const checked: Protection = { rejectUnauthorized: true, ...(ca !== undefined && { ca }) };
  switch (mode) {
    case "disable":
      return [false];
    case "prefer":
      return isLocal(url) ? [false] : [unchecked, false];
    case "require":
      return [root === null ? unchecked : checked];
    case "verify-ca":
      return [{ ...checked, checkServerIdentity: () => undefined }];
    default:
      return [checked];
  }
}

function isLocal({ hostname, searchParams }: URL): boolean {
  const host = searchParams.get("host") ?? hostname;
  return host === "" || host.startsWith("/") || /^(localhost|127\.|\[::1\])/.test(host);
}
