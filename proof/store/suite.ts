// The shared store suite (test/store/suite.ts) on every kind of store: a directory, PostgreSQL, the small S3 of the
// tests; with --s3 on a real service: Ceph's radosgw, or the bucket that POLYFS_TEST_S3 names.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repository } from "../places.ts";
import type { Suite, Trial } from "../suite.ts";
import { startGateway } from "./radosgw.ts";

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: "passed" | "failed" | "skipped" | "pending";
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

const onService = "test/store/s3-service.slow.test.ts";

export const storeProof: Suite = {
  name: "store",
  async run(trial) {
    if (!trial.s3) {
      tests(trial, ["test/store/directory.test.ts"], {});
      tests(trial, ["test/store/postgres.slow.test.ts", "test/store/s3.slow.test.ts"], {});
    } else if (process.env.POLYFS_TEST_S3 !== undefined) tests(trial, [onService], {});
    else {
      await using gateway = await startGateway();
      if (gateway === undefined) {
        const packages = "apt-get install --no-install-recommends radosgw ceph-mon ceph-mgr ceph-osd";
        return trial.tally.skipped(
          "S3",
          `Ceph is not installed (${packages}), and POLYFS_TEST_S3 names none`,
        );
      }
      trial.say(gateway.version);
      tests(trial, [onService], {
        POLYFS_TEST_S3: `s3://polyfs/?endpoint=${encodeURIComponent(gateway.endpoint)}`,
        AWS_ACCESS_KEY_ID: gateway.accessKey,
        AWS_SECRET_ACCESS_KEY: gateway.secretKey,
      });
    }
  },
};

function tests({ tally, say }: Trial, files: readonly string[], environment: NodeJS.ProcessEnv): void {
  const directory = mkdtempSync(join(tmpdir(), "polyfs-store-proof-"));
  const output = join(directory, "report.json");
  const kind = files.some(file => file.includes(".slow.")) ? "slow" : "";
  const vitest = join(repository, "node_modules/vitest/vitest.mjs");
  spawnSync(process.execPath, [vitest, "run", "--reporter=json", `--outputFile=${output}`, ...files], {
    ...{ cwd: repository, stdio: "ignore" },
    env: { ...process.env, ...environment, POLYFS_TESTS: kind },
  });
  try {
    const { testResults } = JSON.parse(readFileSync(output, "utf8")) as Report;
    for (const { fullName, status, failureMessages } of testResults.flatMap(one => one.assertionResults)) {
      say(`${status}: ${fullName}`);
      if (status === "passed") tally.survived();
      else if (status === "failed") tally.failed(fullName, failureMessages[0] ?? "");
      else tally.skipped(fullName, "it says so itself");
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
