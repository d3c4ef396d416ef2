#!/usr/bin/env node
// The entry of the program. It is small, because Node compiles it at every start; the program itself is a script
// beside it, of which the compiled form is kept (docs/decisions/bundle.md).
import { join } from "node:path";
import { runCompiled } from "../engine/workspace/system/compiled.ts";
import { codeCache } from "./code-cache.ts";

/** By then a client has its first answers, and has compiled with them what every start needs. */
const afterTheFirstAnswersMs = 1000;
/** By then it has used the tools, as a rule. The first sessions add the functions that their calls took. */
const afterTheFirstCallsMs = 20_000;
const enough = 3;

const { value, times, keep } = runCompiled(
  join(__dirname, "program.cjs"),
  codeCache(process.argv.slice(2), process.env),
);
if (typeof value !== "function") throw new Error("program.cjs is not what the build makes");
value(exports, require, module);
if (keep !== undefined && times === 0) setTimeout(keep, afterTheFirstAnswersMs).unref();
if (keep !== undefined && times < enough) setTimeout(keep, afterTheFirstCallsMs).unref();
