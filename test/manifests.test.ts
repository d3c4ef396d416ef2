// The entry of the MCP registry and the manifest of the MCPB bundle, by the rules of their schemas that a change here
// could break. The schemas themselves are not part of the repository: docs/decisions/distribution.md.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { environmentName, optionNames } from "../src/cli/options.ts";

const root = join(import.meta.dirname, "..");
const json = (file: string) => JSON.parse(readFileSync(join(root, file), "utf8"));
const { name, mcpName, version, description, engines } = json("package.json");
const variables = optionNames.map(environmentName);

describe("server.json", () => {
  const entry = json("server.json");

  it("names itself as the package does, within the registry's limits", () => {
    expect(entry.name).toBe(mcpName);
    expect(entry.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
    expect(entry.description.length).toBeLessThanOrEqual(100);
    expect(entry.title.length).toBeLessThanOrEqual(100);
    expect(entry.version).toBe(version);
    expect(version).toMatch(/^\d+\.\d+\.\d+/);
  });

  it("describes a package that can be started: registry, transport, arguments, variables", () => {
    expect(entry.packages).toHaveLength(1);
    const [only] = entry.packages;
    expect(only).toMatchObject({
      registryType: "npm",
      identifier: name,
      version,
      transport: { type: "stdio" },
    });
    const formats = ["string", "number", "boolean", "filepath"];
    for (const argument of only.packageArguments) {
      expect(argument.type).toBe("positional");
      expect(argument.valueHint ?? argument.value).toEqual(expect.any(String));
      expect(formats).toContain(argument.format);
    }
    for (const variable of only.environmentVariables) {
      expect(variables).toContain(variable.name);
      expect(formats).toContain(variable.format ?? "string");
      expect(variable.default).toEqual(expect.any(String));
    }
  });
});

describe("packaging/mcpb.json", () => {
  const manifest = json("packaging/mcpb.json");

  it("has what the manifest must have, and nothing that its version does not know", () => {
    expect(manifest).toMatchObject({ manifest_version: "0.3", name, version, description });
    expect(manifest.author.name).toEqual(expect.any(String));
    expect(manifest.compatibility.runtimes.node).toBe(engines.node);
    const known =
      "manifest_version name display_name version description long_description author license keywords server user_config tools tools_generated compatibility";
    expect(Object.keys(manifest).filter(key => !known.split(" ").includes(key))).toEqual([]);
  });

  it("asks the user for everything that it fills in, and fills in everything that it asks for", () => {
    const { command, args, env } = manifest.server.mcp_config;
    const blanks = [...JSON.stringify([command, args, env]).matchAll(/\$\{user_config\.(\w+)\}/g)];
    expect(blanks.map(([, key]) => key).sort()).toEqual(Object.keys(manifest.user_config).sort());
    for (const variable of Object.keys(env)) expect(variables).toContain(variable);
    for (const asked of Object.values<{ type: string; title: string; description: string }>(
      manifest.user_config,
    )) {
      expect(["string", "number", "boolean", "directory", "file"]).toContain(asked.type);
      expect([asked.title, asked.description]).toEqual([expect.any(String), expect.any(String)]);
    }
  });
});
