// Signs requests for S3-compatible storage (AWS Signature Version 4). Sixty lines instead of a client: five kinds of
// requests are all that the store makes.
import { createHash, createHmac } from "node:crypto";

export interface Credentials {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly sessionToken?: string | undefined;
  readonly region: string;
}

export interface SignedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}

/** The headers that authenticate the request. */
export function signed(
  { method, url, headers, body }: SignedRequest,
  { accessKey, secretKey, sessionToken, region }: Credentials,
  now: Date,
): Record<string, string> {
  const time = now.toISOString().replace(/[-:]|\.\d{3}/g, "");
  const date = time.slice(0, 8);
  const hash = createHash("sha256")
    .update(body ?? "")
    .digest("hex");
  const all: Record<string, string> = {
    ...headers,
    host: url.host,
    "x-amz-content-sha256": hash,
    "x-amz-date": time,
    ...(sessionToken !== undefined && { "x-amz-security-token": sessionToken }),
  };
  const names = Object.keys(all).sort();
  const query = [...url.searchParams]
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .sort()
    .join("&");
  const path = url.pathname
    .split("/")
    .map(part => escaped(decodeURIComponent(part)))
    .join("/");
  const canonical = [
    ...[method, path, query],
    ...names.map(name => `${name}:${(all[name] ?? "").trim()}`),
    ...["", names.join(";"), hash],
  ].join("\n");
  const scope = `${date}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, scope, createHash("sha256").update(canonical).digest("hex")].join(
    "\n",
  );
  const key = [date, region, "s3", "aws4_request"].reduce<string | Buffer>(
    (secret, part) => createHmac("sha256", secret).update(part).digest(),
    `AWS4${secretKey}`,
  );
  const signature = createHmac("sha256", key).update(text).digest("hex");
  const { host: _, ...sent } = all;
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`,
  };
}

function escaped(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
