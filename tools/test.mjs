// `npm test`: installs what is missing, then runs vitest, which builds (test/setup/build.ts). With --slow it runs the
// tests that take long instead. Other arguments go to vitest.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { install } from "./install.mjs";

install();
const vitest = join(dirname(fileURLToPath(import.meta.url)), "../node_modules/vitest/vitest.mjs");
const slow = process.argv.includes("--slow");
const rest = process.argv.slice(2).filter(argument => argument !== "--slow");
const { status } = spawnSync(process.execPath, [vitest, "run", ...rest], {
  stdio: "inherit",
  env: slow ? { ...process.env, POLYFS_TESTS: "slow" } : process.env,
});
process.exitCode = status ?? 1;
