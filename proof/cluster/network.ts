// A network namespace for each replica, with one link to the database and another to the agents. Cutting the first takes
// its link down: packets in both directions are lost, and connections stay open.
import { spawnSync } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";

export interface NetworkPlace {
  /** The command that runs another one inside. */
  readonly enter: readonly string[];
  /** Its address on the side of the agents. */
  readonly host: string;
  cut(): void;
  heal(): void;
}

const agentsFrom = 128;

export class Network implements Disposable {
  readonly #id = randomBytes(3).toString("hex");
  readonly #subnet = `10.${randomInt(128, 250)}.${randomInt(250)}`;
  readonly #spaces: string[] = [];

  private constructor() {}

  /** Undefined if this process may not make one. */
  static lay(): Network | undefined {
    if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined;
    const network = new Network();
    try {
      network.#addBridges();
      network.place(agentsFrom - 4); // fails where namespaces or links cannot be made
      return network;
    } catch {
      network[Symbol.dispose]();
      return undefined;
    }
  }

  /** Where the database has to listen. */
  get database(): string {
    return `${this.#subnet}.1`;
  }

  place(i: number): NetworkPlace {
    const space = `polyfs-${this.#id}-${i}`;
    ip("netns", "add", space);
    this.#spaces.push(space);
    const inside = (...args: string[]) => ip("-n", space, ...args);
    inside("link", "set", "dev", "lo", "up");
    const host = `${this.#subnet}.${agentsFrom + 2 + i}`;
    const link = (side: string, address: string) => {
      const outer = `p${side}${this.#id}${i}`;
      ip("link", "add", outer, "type", "veth", "peer", "name", side, "netns", space);
      ip("link", "set", "dev", outer, "master", this.#bridge(side), "up");
      inside("address", "add", `${address}/25`, "dev", side);
      inside("link", "set", "dev", side, "up");
      return outer;
    };
    const cable = link("d", `${this.#subnet}.${2 + i}`);
    link("a", host);
    return {
      ...{ enter: ["ip", "netns", "exec", space], host },
      cut: () => ip("link", "set", "dev", cable, "down"),
      heal: () => ip("link", "set", "dev", cable, "up"),
    };
  }

  [Symbol.dispose](): void {
    // Links go with their namespaces.
    for (const space of this.#spaces) spawnSync("ip", ["netns", "delete", space]);
    for (const side of ["d", "a"]) spawnSync("ip", ["link", "delete", this.#bridge(side)]);
  }

  #addBridges(): void {
    // With an address of its own: otherwise a bridge takes that of a new link, and what others send is lost for half a
    // minute.
    for (const [bridge, address, own] of [
      [this.#bridge("d"), this.database, "02:00:00:00:00:01"],
      [this.#bridge("a"), `${this.#subnet}.${agentsFrom + 1}`, "02:00:00:00:00:02"],
    ] as const) {
      ip("link", "add", bridge, "address", own, "type", "bridge");
      ip("address", "add", `${address}/25`, "dev", bridge);
      ip("link", "set", "dev", bridge, "up");
    }
  }

  #bridge(side: string): string {
    return `p${side}${this.#id}`;
  }
}

function ip(...args: readonly string[]): void {
  const { status, stderr, error } = spawnSync("ip", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`ip ${args.join(" ")}: ${error?.message ?? stderr}`);
}
