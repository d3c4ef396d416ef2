// The fixture as a program: the real handlers on real standard input and output.
import { createLog } from "../../src/mcp/log.ts";
import { serveStdio } from "../../src/mcp/stdio.ts";
import { fixtureOptions } from "./fixture.ts";

const log = createLog("info");
await serveStdio({
  ...fixtureOptions,
  log,
  onRoots: roots => log.info(`roots: ${roots.map(({ uri }) => uri).join(" ")}`),
});
