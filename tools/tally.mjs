// Reads a JSON report of vitest for .ci/run. `counts` prints "PASSED FAILED", `files` the files with failures, one a
// line, and `failures` the name of each failed test with the start of its message. A file that fails outside of its
// tests counts as one failure.
import { readFileSync } from "node:fs";
import { relative } from "node:path";

const [what, path] = process.argv.slice(2);
const report = JSON.parse(readFileSync(path, "utf8"));
const files = report.testResults.filter(({ status }) => status === "failed");
const failedTests = file => file.assertionResults.filter(({ status }) => status === "failed");
const broken = files.filter(file => failedTests(file).length === 0);
const nameOf = file => relative(process.cwd(), file.name);
const startOf = message => message.split("\n").slice(0, 12).join("\n");

switch (what) {
  case "counts":
    console.log(report.numPassedTests, report.numFailedTests + broken.length);
    break;
  case "files":
    for (const file of files) console.log(nameOf(file));
    break;
  case "failures":
    for (const file of broken) console.log(`${nameOf(file)}\n${startOf(file.message ?? "")}`);
    for (const file of files) {
      for (const test of failedTests(file)) {
        console.log(`${nameOf(file)}: ${test.fullName}\n${startOf(test.failureMessages.join("\n"))}`);
      }
    }
    break;
  default:
    throw new Error("usage: tally.mjs counts|files|failures REPORT");
}
