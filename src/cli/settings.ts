// What the options decide for the tools.
import { defaultSettings, type Settings } from "../contract/settings.ts";
import type { Config } from "./config.ts";

export function settingsOf(config: Config): Settings {
  return {
    ...defaultSettings,
    plainNames: config["plain-names"],
    maxOutputBytes: config["max-output-bytes"],
    maxFileBytes: config["max-file-bytes"],
    commandTimeoutMs: config["command-timeout-ms"],
    commandTimeoutMaxMs: config["command-timeout-max-ms"],
    commands: config.run ? config["allow-run"] : "none",
    hardLinks: config["hard-links"],
  };
}
