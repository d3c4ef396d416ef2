// Prints "PASSED FAILED" of a vitest JSON report. A file that fails outside of its tests counts as one failure.
import { readFileSync } from "node:fs";

const report = JSON.parse(readFileSync(process.argv[2], "utf8"));
const broken = report.testResults.filter(
  ({ status, assertionResults }) =>
    status === "failed" && assertionResults.every(test => test.status !== "failed"),
);
console.log(report.numPassedTests, report.numFailedTests + broken.length);
