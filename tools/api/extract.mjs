// The public API as API Extractor reads it from the declaration files: a report in one text, and a model with the
// documentation comments. Types that exported declarations mention are part of it, whether they are exported or not.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Extractor, ExtractorConfig } from "@microsoft/api-extractor";
import { build } from "../build.mjs";

export async function extractApi(root) {
  await build({ types: true });
  mkdirSync(join(root, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(root, ".cache/api-"));
  try {
    const config = ExtractorConfig.prepare({
      configObjectFullPath: join(root, "api-extractor.json"),
      packageJsonFullPath: join(root, "package.json"),
      configObject: configuration(root, folder),
    });
    const problems = [];
    const { succeeded } = Extractor.invoke(config, {
      localBuild: true,
      messageCallback(message) {
        if (message.logLevel === "error") problems.push(message.text);
        message.handled = true;
      },
    });
    if (!succeeded) throw new Error(`API Extractor failed:\n${problems.join("\n")}`);
    return {
      report: readFileSync(join(folder, "polyfs.api.md"), "utf8"),
      model: JSON.parse(readFileSync(join(folder, "polyfs.api.json"), "utf8")),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function configuration(root, folder) {
  const entry = join(root, "dist/types/index.d.ts");
  const silent = { default: { logLevel: "none" } };
  return {
    projectFolder: root,
    mainEntryPointFilePath: entry,
    newlineKind: "lf",
    compiler: {
      overrideTsconfig: {
        compilerOptions: {
          module: "nodenext",
          target: "es2023",
          lib: ["es2023", "esnext.disposable"],
          types: ["node"],
          typeRoots: [join(root, "node_modules/@types")],
          strict: true,
          skipLibCheck: true,
          allowImportingTsExtensions: true,
          noEmit: true,
        },
        files: [entry],
      },
    },
    apiReport: {
      enabled: true,
      reportFileName: "polyfs.api.md",
      reportFolder: folder,
      reportTempFolder: join(folder, "temporary"),
      includeForgottenExports: true,
    },
    docModel: {
      enabled: true,
      apiJsonFilePath: join(folder, "polyfs.api.json"),
      includeForgottenExports: true,
    },
    dtsRollup: { enabled: false },
    tsdocMetadata: { enabled: false },
    messages: { extractorMessageReporting: silent, tsdocMessageReporting: silent },
  };
}
