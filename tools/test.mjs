// `npm test`: installs what is missing, then runs vitest, which builds (test/setup/build.ts). Arguments go to vitest.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { install } from "./install.mjs";

install();
const vitest = join(dirname(fileURLToPath(import.meta.url)), "../node_modules/vitest/vitest.mjs");
const { status } = spawnSync(process.execPath, [vitest, "run", ...process.argv.slice(2)], {
  stdio: "inherit",
});
process.exitCode = status ?? 1;
