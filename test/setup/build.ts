// Runs once before the tests: brings dist/ up to date, because tests that talk to a process talk to the one that
// users start. POLYFS_TEST_BUILD=off skips it, for tests that import the sources (tools/mutate.mjs).
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const script = join(import.meta.dirname, "../../tools/build.mjs");

export default async function setup(): Promise<void> {
  if (process.env.POLYFS_TEST_BUILD === "off") return;
  try {
    const { build } = await import(pathToFileURL(script).href);
    await build();
  } catch (error) {
    // A tree that does not bundle must not hide the tests that need no process; those that do will fail on it.
    console.error("dist/ is out of date:", error);
  }
}
