// The certificate that --tls-cert and --tls-key name. It is read again when its files change; where what they hold
// then cannot be used, the old one stays.
import { plainWording, say } from "../contract/wording.ts";
import { Fault } from "../engine/fault.ts";
import { system } from "../engine/workspace/errno.ts";
import { readNamedFile } from "../engine/workspace/system/named-file.ts";
import { WatchedFile } from "../host/watched-file.ts";
import { fileProblem } from "../mcp/file-problem.ts";
import type { Certificate, HttpService } from "../mcp/http/serve.ts";
import type { Log } from "../mcp/log.ts";
import type { Config } from "./config.ts";
import { UsageError } from "./usage-error.ts";

interface WatchedCertificate {
  readonly current: Certificate;
  /** Passes a new certificate to the service, if there is one. */
  renew(service: HttpService): void;
}

/** Node takes an empty file for no certificate, and every handshake fails. Faults: `invalid_argument`. */
function contentOf(path: string): string {
  const content = readNamedFile(path);
  if (content.trim() === "") throw new Fault("invalid_argument", { message: `${path} is empty` });
  return content;
}

export function certificateOf(config: Config, log: Log): WatchedCertificate | undefined {
  const { "tls-cert": cert, "tls-key": key } = config;
  if (cert === undefined || key === undefined) return undefined;
  const files = [cert, key].map(path => new WatchedFile(path));
  const read = (): Certificate => ({ cert: contentOf(cert), key: contentOf(key) });
  try {
    for (const file of files) system(file.path, () => file.changed());
    return {
      current: read(),
      renew(service) {
        try {
          const changed = files.map(file => file.changed() !== undefined);
          if (!changed.includes(true)) return;
          service.renew(read());
          log.info("the certificate was renewed");
        } catch (error) {
          log.error("the new certificate cannot be used; the old one stays", fileProblem(error));
        }
      },
    };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new UsageError(`the certificate cannot be read: ${say(plainWording, error)}`);
  }
}
