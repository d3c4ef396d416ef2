// What of the machine a confined command may see besides the roots: the programs and what they need to run, and
// nothing that belongs to a person. /etc is a list and not the directory, because a server that runs as root
// could read everything in it.
import { basename, dirname } from "node:path";

/** Programs and libraries, read-only. */
export const systemDirectories: readonly string[] = [
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
];

/** Configuration that programs look up: names of users and hosts, certificates, the linker's cache, time zone. */
export const systemFiles: readonly string[] = [
  ...["passwd", "group", "nsswitch.conf", "hosts", "host.conf", "resolv.conf", "protocols", "services"],
  ...["ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ld-musl-x86_64.path", "alternatives"],
  ...[
    "localtime",
    "timezone",
    "locale.conf",
    "os-release",
    "debian_version",
    "alpine-release",
    "lsb-release",
  ],
  ...["ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "ca-certificates", "ca-certificates.conf"],
  ...["pki/tls/certs", "pki/tls/cert.pem", "pki/tls/openssl.cnf", "pki/ca-trust"],
  ...["mime.types", "magic", "inputrc", "terminfo", "fonts", "profile", "bash.bashrc", "shells"],
  ...["java", "java-8-openjdk", "java-11-openjdk", "java-17-openjdk", "java-21-openjdk", "maven", "gradle"],
  ...["python3", "perl", "R", "php", "dotnet"],
].map(name => `/etc/${name}`);

/** Where this Node and its npm are, wherever that may be (a version manager puts them into the home directory). */
export function nodeDirectories(program = process.execPath): readonly string[] {
  const bin = dirname(program);
  if (basename(bin) !== "bin") return [bin];
  const prefix = dirname(bin);
  return [bin, `${prefix}/lib/node_modules`, `${prefix}/include/node`];
}
