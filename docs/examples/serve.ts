// Serving a dialect of your own to an MCP client on standard input and output.
import { createLog, defaultSettings, openEngine, serveStdio } from "polyfs";
import { withStamp } from "./own-tool.ts";

const engine = openEngine({ roots: [{ path: process.cwd(), access: "read-write" }] });
await serveStdio({
  dialect: await withStamp(),
  engine,
  settings: defaultSettings,
  info: { name: "stamping", version: "1.0.0" },
  log: createLog("warn"),
});
engine[Symbol.dispose]();
