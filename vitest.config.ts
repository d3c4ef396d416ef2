import { existsSync } from "node:fs";
import { defineConfig } from "vitest/config";

// Tests work on real temporary trees and real processes, so they get real time; nothing asserts on speed.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    // The parsing thread is a program of its own, which only the build can make.
    server: { deps: { external: [/\/dist\/[^/]+\.cjs$/] } },
    globalSetup: ["test/setup/build.ts"],
    // Where /proc is hidden, the engine in the tests works as the program does.
    setupFiles: existsSync("/proc/self/fd") ? [] : ["test/setup/working-directory.ts"],
    // Each build would leave its compiled code in the developer's own cache.
    env: { POLYFS_CODE_CACHE: "off" },
  },
});
