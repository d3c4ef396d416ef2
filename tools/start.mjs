// `npm start -- DIR…`: installs and builds what is missing, then serves. Nothing but the protocol may reach
// stdout, so the installer and the bundler speak on stderr, and .npmrc keeps npm's own banner away.
import { build, isBuilt } from "./build.mjs";
import { install } from "./install.mjs";

install();
if (!isBuilt()) await build();
// npm runs scripts in the package's folder; directories are relative to the user's working directory.
process.chdir(process.env.INIT_CWD ?? process.cwd());
await import("../dist/polyfs.cjs");
