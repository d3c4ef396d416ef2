import { existsSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { useTemporaryDirectoryOnDisk } from "./tools/temporary-directory.mjs";

useTemporaryDirectoryOnDisk();

// Tests work on real temporary trees and real processes, so they get real time; nothing asserts on speed. `npm test`
// leaves out `*.slow.test.ts`, which would double its time; `npm run test:slow` runs them, and .ci/run runs both.
const slow = "test/**/*.slow.test.ts";
const isSlow = process.env.POLYFS_TESTS === "slow";

export default defineConfig({
  test: {
    include: [isSlow ? slow : "test/**/*.test.ts"],
    exclude: isSlow ? [] : [slow],
    // Limits for what never comes, and no measures: a busy machine takes ten times as long, and stops processes for seconds.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 3,
    // The threads for parsing and for long diffs are programs of their own, which only the build can make.
    server: { deps: { external: [/\/dist\/[^/]+\.cjs$/] } },
    globalSetup: ["test/setup/build.ts"],
    // Where /proc is hidden, the engine in the tests works as the program does.
    setupFiles: [
      "test/setup/umask.ts",
      ...(existsSync("/proc/self/fd") ? [] : ["test/setup/working-directory.ts"]),
    ],
    // Each build would leave its compiled code in the developer's own cache.
    env: { POLYFS_CODE_CACHE: "off" },
  },
});
