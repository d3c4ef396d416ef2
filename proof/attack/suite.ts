// The attack suite: tries to get out of the granted directories, and to stop the server, by every tool.
import type { Suite } from "../suite.ts";

export const attack: Suite = {
  name: "attack",
  async run() {},
};
