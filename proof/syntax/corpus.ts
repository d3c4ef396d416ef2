// Real files to break, by language, from what is installed here: this repository, its packages, and the system's.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../places.ts";

const places: Readonly<Record<string, readonly string[]>> = {
  ts: [join(repository, "src"), join(repository, "test"), join(repository, "node_modules/vitest/dist")],
  tsx: [join(repository, "web"), join(repository, "node_modules/.proof-tsx")],
  js: [join(repository, "node_modules")],
  py: ["/usr/lib/python3.13", "/usr/lib/python3.12", "/usr/lib/python3.11", "/usr/lib/python3"],
  go: [
    "/usr/lib/go/src",
    "/usr/share/go-1.19/src",
    "/usr/share/go-1.22/src",
    "/usr/share/go-1.24/src",
    "/usr/local/go/src",
  ],
  rs: [
    join(process.env.HOME ?? "/root", ".cargo/registry/src"),
    join(process.env.HOME ?? "/root", ".rustup"),
    "/usr/share/cargo/registry",
    ...below("/usr/src", /^rustc-/).flatMap(place => [join(place, "library"), join(place, "compiler")]),
  ],
  java: [join(repository, "node_modules/.proof-java")],
  cpp: ["nlohmann", "rapidjson", "fmt", "spdlog", "cereal", "CLI", "range", "doctest", "c++"].map(name =>
    join("/usr/include", name),
  ),
};
const endings: Readonly<Record<string, RegExp>> = {
  js: /\.(js|mjs|cjs)$/,
  ts: /\.(ts|mts|cts)$/,
  cpp: /\.(h|hpp|cpp|cc|tcc)$/,
};

/** Packages that carry the TSX that they are made from. */
const withTsx = [
  ...["react-native-paper", "react-native-gesture-handler", "react-native-screens"],
  ...["@react-navigation/elements", "@react-navigation/stack", "@react-navigation/drawer"],
  "@react-navigation/bottom-tabs",
];

/** Gets what is not installed as files: packages of npm, and the sources that a JDK has in an archive. */
export function fetchCorpus(language: string): void {
  const folder = join(repository, `node_modules/.proof-${language}`);
  if (existsSync(folder)) return;
  if (language === "tsx") {
    mkdirSync(folder);
    for (const name of withTsx) {
      const options = { cwd: folder, encoding: "utf8", timeout: 120_000 } as const;
      const file = spawnSync("npm", ["pack", "--silent", name], options).stdout?.trim();
      if (!file) continue;
      mkdirSync(join(folder, `${file}.d`));
      spawnSync("tar", ["xzf", file, "-C", `${file}.d`], { cwd: folder });
    }
  }
  if (language === "java") {
    const archive = below("/usr/lib/jvm", /./)
      .flatMap(place => [join(place, "src.zip"), join(place, "lib/src.zip")])
      .find(file => existsSync(file));
    if (archive === undefined) return;
    mkdirSync(folder);
    spawnSync("unzip", ["-q", archive, "java.base/java/*", "java.net.http/*"], { cwd: folder });
  }
}

function below(folder: string, name: RegExp): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter(one => name.test(one))
    .map(one => join(folder, one));
}

/** Up to this many files, chosen by `pick` among those of a sensible size. */
export function corpus(language: string, most: number, shuffle: <T>(list: readonly T[]) => T[]): string[] {
  const ending = endings[language] ?? new RegExp(`\\.${language}$`);
  const found: string[] = [];
  for (const place of places[language] ?? []) collect(place, ending, found, 0);
  return shuffle(found.sort()).slice(0, most);
}

export function textAt(path: string): string {
  return readFileSync(path, "utf8");
}

function collect(place: string, ending: RegExp, found: string[], depth: number): void {
  if (found.length > 20_000 || depth > 12) return;
  let entries: import("node:fs").Dirent[];
  try {
    entries = readdirSync(place, { withFileTypes: true });
  } catch {
    return;
  }
  for (const entry of entries) {
    const path = join(place, entry.name);
    if (entry.isDirectory()) collect(path, ending, found, depth + 1);
    else if (entry.isFile() && ending.test(entry.name) && !/\.min\./.test(entry.name)) {
      const { size } = statSync(path);
      if (size > 300 && size < 40_000) found.push(path);
    }
  }
}
