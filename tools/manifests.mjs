// How polyfs is described to those who distribute it: the MCPB bundle's manifest, and the entry of the MCP registry.
// Both are written from package.json and the default dialect by generate.mjs.

const directories = "Directories that the agent may read and change. It reaches nothing else.";

/** What the client fills in. */
function blank(name) {
  return `\${${name}}`;
}

export function mcpbManifest({ version, description, keywords, license, engines }, tools) {
  return {
    manifest_version: "0.3",
    name: "polyfs",
    display_name: "polyfs",
    version,
    description,
    long_description:
      "Reads, searches, edits, patches, moves and deletes files in the directories that you choose. Every change can be taken back; edits keep encodings and line endings; answers are bounded.",
    author: { name: "The polyfs authors" },
    license,
    keywords,
    server: {
      type: "node",
      entry_point: "server/dist/polyfs.cjs",
      mcp_config: {
        command: "node",
        args: [`${blank("__dirname")}/server/dist/polyfs.cjs`, blank("user_config.allowed_directories")],
        env: {
          POLYFS_READ_ONLY: blank("user_config.read_only"),
          POLYFS_DIALECT: blank("user_config.dialect"),
        },
      },
    },
    user_config: {
      allowed_directories: {
        type: "directory",
        title: "Directories",
        description: directories,
        multiple: true,
        required: true,
      },
      read_only: {
        type: "boolean",
        title: "Read-only",
        description: "Let the agent look, and change nothing.",
        default: false,
        required: false,
      },
      dialect: {
        type: "string",
        title: "Dialect",
        description: "The set of tools: polyfs, or another one that your prompts are written for.",
        default: "polyfs",
        required: false,
      },
    },
    tools: tools.map(tool => ({ name: tool.name, description: tool.description })),
    tools_generated: true,
    compatibility: { runtimes: { node: engines.node } },
  };
}

export function registryEntry({ name, mcpName, version }) {
  return {
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: mcpName,
    title: "polyfs",
    description:
      "Hands on a file tree for agents: confined, byte-exact, merged, undoable; several tool sets.",
    version,
    packages: [
      {
        registryType: "npm",
        identifier: name,
        version,
        runtimeHint: "npx",
        transport: { type: "stdio" },
        packageArguments: [
          {
            type: "positional",
            valueHint: "directory",
            description: directories,
            format: "filepath",
            isRequired: true,
            isRepeated: true,
          },
        ],
        environmentVariables: [
          { name: "POLYFS_READ_ONLY", description: "Change nothing", format: "boolean", default: "false" },
          { name: "POLYFS_DIALECT", description: "The set of tools to serve", default: "polyfs" },
        ],
      },
    ],
  };
}
