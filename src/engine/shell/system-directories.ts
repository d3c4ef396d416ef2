// What of the machine a confined command may see besides the roots: the programs and what they need to run, and
// nothing that belongs to a person. /etc is a list and not the directory, because a server that runs as root
// could read everything in it.
import { basename, dirname } from "node:path";

/** Programs and libraries, read-only. */
export const systemDirectories = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/opt",
  "/nix/store",
  "/gnu/store",
  "/run/current-system/sw",
] as const;

/**
 * Configuration that programs look up: names of users and hosts, certificates, the linker's cache, time zone.
 * Each one is a mount, which every command waits for, so what programs can do without is not here.
 */
export const systemFiles: readonly string[] = [
  ...["passwd", "group", "nsswitch.conf", "hosts", "localtime", "alternatives"],
  ...["ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ld-musl-x86_64.path", "ld-musl-aarch64.path"],
  ...["ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "pki/tls/certs", "pki/tls/openssl.cnf", "pki/ca-trust"],
  ...["java", "java-8-openjdk", "java-11-openjdk", "java-17-openjdk", "java-21-openjdk", "maven"],
  ...["php", "R", "dotnet", "fonts"],
].map(name => `/etc/${name}`);

/** Files needed to reach other machines. */
export const networkFiles: readonly string[] = [
  "/etc/resolv.conf",
  "/etc/host.conf",
  "/etc/services",
  "/etc/protocols",
];

/**
 * The directories of this Node and its npm: a version manager puts them into the home directory. Their parent may be
 * a home itself, so it is not included.
 */
export function nodeDirectories(program = process.execPath): readonly string[] {
  const bin = dirname(program);
  if (systemDirectories.some(directory => bin.startsWith(`${directory}/`))) return [];
  if (basename(bin) !== "bin") return [bin];
  const prefix = dirname(bin);
  return [bin, `${prefix}/lib/node_modules`, `${prefix}/include/node`];
}
