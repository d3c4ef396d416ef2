// Enforces semantic versioning: compares the public API with the one that the last release had, and fails where a
// program that uses it could break and the version does not say so. With --accept, which is part of cutting a release,
// the API of today becomes the one to compare with.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compareApi, isAtLeast, nextBreaking } from "./api/compatible.mjs";
import { extractApi } from "./api/extract.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const recorded = join(root, "test/contracts/polyfs.api.md");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const { report } = await extractApi(root);

if (process.argv.includes("--accept")) {
  writeFileSync(
    recorded,
    `<!-- The public API of version ${version}. Written by: npm run api -- --accept -->\n${report}`,
  );
  console.log(`recorded the API of ${version}`);
} else check(readFileSync(recorded, "utf8"));

function check(old) {
  const [, released = "0.0.0"] = /public API of version (\S+)\./.exec(old) ?? [];
  const { breaking, added } = compareApi(old, report);
  for (const line of added) console.log(`added: ${line}`);
  for (const line of breaking) console.log(line);
  const needed = nextBreaking(released);
  if (breaking.length === 0) console.log(`the API is compatible with ${released}`);
  else if (isAtLeast(version, needed)) console.log(`the API breaks with ${released}, as ${version} says`);
  else {
    console.error(
      `${breaking.length} changes break programs that use ${released}. Keep what they use, or set the version in package.json to ${needed} and tell users in CHANGELOG.md.`,
    );
    process.exitCode = 1;
  }
}
