#!/usr/bin/env node
// The entry of the program. It is small, because Node compiles it at every start; the program itself is a script
// beside it, of which the compiled form is kept (docs/decisions/bundle.md).
import { join } from "node:path";
import { runCompiled } from "../host/compiled.ts";
import { codeCache } from "./code-cache.ts";
import { holdHangUp } from "./hold-hang-up.ts";
import { keepCompiled } from "./keep-compiled.ts";
import { tooOld } from "./node-version.ts";

const advice = tooOld(process.versions.node);
if (advice !== undefined) {
  process.stderr.write(`polyfs: Node ${process.versions.node} is too old. ${advice}\n`);
  process.exit(1);
}
holdHangUp();
const cache = codeCache(process.argv.slice(2), process.env);
const compiled = runCompiled(join(__dirname, "program.cjs"), cache);
const { value } = compiled;
if (typeof value !== "function") throw new Error("program.cjs does not match the build");
value(exports, require, module);
// Over HTTP bytes are not counted; usually a client has called by the first check.
keepCompiled(compiled, () => (cache?.use === "http" ? 1 : process.stdin.bytesRead));
