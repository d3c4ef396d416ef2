// Which user of this machine is at the other end of a loopback connection. Linux lists it in the table of its TCP
// sockets, where the client's own socket is listed with the id of its user.
import { readFileSync } from "node:fs";

/** The ends of a connection, as a socket has them. */
export interface ConnectionEnds {
  readonly localPort?: number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

/** Whether this system reports it. */
export function knowsPeerUser(): boolean {
  return tableOf("tcp") !== "";
}

/** Undefined if the system does not report it, or the connection is closed. */
export function peerUser({
  localPort = 0,
  remoteAddress = "",
  remotePort = 0,
}: ConnectionEnds): number | undefined {
  const address = /^(?:::ffff:)?(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(remoteAddress)?.slice(1);
  if (address === undefined) return undefined;
  // The kernel prints an address as words of the machine's byte order, and a port as a number.
  const v4 = Buffer.from(address.reverse().map(Number)).toString("hex").toUpperCase();
  const v6 = `0000000000000000FFFF0000${v4}`;
  const port = (value: number) => value.toString(16).toUpperCase().padStart(4, "0");
  for (const [table, local] of [
    ["tcp", v4],
    ["tcp6", v6],
  ] as const)
    for (const line of tableOf(table).split("\n")) {
      const [, from, to, , , , , user] = line.trim().split(/\s+/);
      if (from === `${local}:${port(remotePort)}` && to?.endsWith(`:${port(localPort)}`)) return Number(user);
    }
  return undefined;
}

function tableOf(name: "tcp" | "tcp6"): string {
  try {
    return process.platform === "linux" ? readFileSync(`/proc/net/${name}`, "latin1") : "";
  } catch {
    return "";
  }
}
