// Packages of others, installed where the user keeps caches: never a dependency of ours, never in the repository, and
// only on request. Install scripts do not run, except for one package that consists of it.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export interface Package {
  readonly name: string;
  readonly version?: string;
  /** For a registry that lags behind: what its dependencies may be instead. */
  readonly overrides?: Readonly<Record<string, string>>;
  readonly scripts?: boolean;
}

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "polyfs-bench");

/** The package's program, installed if it is not there yet. */
export async function packaged(wanted: Package): Promise<string> {
  const { name, version = "latest", overrides = {}, scripts = false } = wanted;
  const home = join(cache, `${name}@${version}`.replaceAll(/[^\w.@-]/g, "-"));
  const installed = join(home, "node_modules", name);
  const done = join(home, "installed");
  if (!existsSync(done)) {
    console.error(`installing ${name}@${version} into ${cache}`);
    rmSync(home, { recursive: true, force: true });
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "package.json"), JSON.stringify({ private: true, overrides }));
    const flags = ["--no-audit", "--no-fund", "--loglevel=error", ...(scripts ? [] : ["--ignore-scripts"])];
    await npm(["install", ...flags, `${name}@${version}`], home);
    writeFileSync(done, "");
  }
  const { bin } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  return join(installed, typeof bin === "string" ? bin : String(Object.values(bin)[0]));
}

/** What is installed, for the report. */
export function versionOf({ name, version = "latest" }: Package): string | undefined {
  try {
    const home = join(cache, `${name}@${version}`.replaceAll(/[^\w.@-]/g, "-"));
    return JSON.parse(readFileSync(join(home, "node_modules", name, "package.json"), "utf8")).version;
  } catch {
    return undefined;
  }
}

function npm(args: readonly string[], cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn("npm", args, {
      cwd,
      stdio: ["ignore", "ignore", "pipe"],
      shell: process.platform === "win32",
    });
    let said = "";
    child.stderr.on("data", chunk => {
      said += chunk;
    });
    child.on("error", reject);
    child.on("close", code =>
      code === 0 ? resolve() : reject(new Error(`npm could not install it: ${firstLines(said)}`)),
    );
  });
}

function firstLines(text: string): string {
  return text.trim().split("\n").slice(0, 2).join("; ");
}
