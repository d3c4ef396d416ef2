// `polyfs --http`: opens what is served, sets up authentication, and serves until a signal.
import { defaultDialect, dialects } from "../dialects/index.ts";
import { handedOver, isLoopback, parseAddress } from "../mcp/http/listen-address.ts";
import { ReviewDoor } from "../mcp/http/review-door.ts";
import { type HttpService, serveHttp } from "../mcp/http/serve.ts";
import type { Log } from "../mcp/log.ts";
import { Activity } from "../review/activity.ts";
import { version } from "../version.ts";
import { openAudit, refuseInWorkspaces, refuseServed } from "./audit.ts";
import { certificateOf } from "./certificate.ts";
import type { Config } from "./config.ts";
import { confinementOf } from "./confinement.ts";
import { chooseDialect } from "./dialect.ts";
import { openDirectories } from "./directories.ts";
import { accessOf } from "./http-access.ts";
import { tellStart } from "./log.ts";
import { policyOf } from "./policy/policy-choice.ts";
import { ruleWriter } from "./policy/write-rule.ts";
import { refuseUnshared } from "./replica-directory.ts";
import { servedBy } from "./served-directories.ts";
import { settingsOf } from "./settings.ts";
import { sharedThroughStore } from "./shared-directory.ts";
import { openTelemetry } from "./telemetry.ts";
import { refuseUnmatched } from "./unmatched-names.ts";
import { UsageError } from "./usage-error.ts";
import { warnOfVolatileState } from "./volatile-state.ts";

/** How often the certificate is checked for renewal. */
const renewalMs = 10_000;

export async function serveOverHttp(given: Config, log: Log): Promise<void> {
  const activated = given.http === "systemd";
  const address = activated ? handedOver(process.env) : parseAddress(given.http ?? "");
  if (address === undefined)
    throw new UsageError(
      activated
        ? "--http systemd needs a socket from systemd: start the .socket unit, or name [HOST:]PORT"
        : `--http needs [HOST:]PORT, not ${JSON.stringify(given.http)}`,
    );
  const [hosts, origins] = [listOf(given["allow-host"]), listOf(given["allow-origin"])];
  refuseUnmatched(hosts, origins);
  const dialect = await chooseDialect(given.dialect);
  const { config, workspaces } = await servedBy(given, dialect, log, { anyWorkspace: true });
  const authenticated = config.tokens !== undefined || config["oauth-issuer"] !== undefined;
  if (!authenticated && !isLoopback(address.host)) {
    throw new UsageError(
      `${activated ? "the socket of systemd" : address.host} can be reached from other machines: add --tokens FILE or --oauth-issuer URL, or serve 127.0.0.1`,
    );
  }
  // The client's roots are ignored here: they are on another machine.
  const withoutRoots = config.tokens === undefined && workspaces === undefined ? "usage" : "none";
  const policy = policyOf(config, dialect, log);
  const { confine, sandbox } = await confinementOf(config);
  using engine = openDirectories(config, { withoutRoots }, confine, policy, workspaces);
  for (const { path, access } of engine.workspace.roots) log.info(`serving ${path} (${access})`);
  refuseUnshared(config, engine.workspace);
  await using _shared = await sharedThroughStore(config, engine.workspace, workspaces, log);
  if (workspaces !== undefined)
    for (const name of ["audit", "tokens", "tls-cert", "tls-key"] as const) {
      const file = config[name];
      if (file !== undefined) await refuseInWorkspaces(`--${name}`, file, workspaces);
    }
  using audit = openAudit(config, engine.workspace, log);
  if (config.tokens !== undefined) refuseServed("--tokens", config.tokens, engine.workspace);
  const { "tls-cert": cert, "tls-key": key } = config;
  if (cert !== undefined) refuseServed("--tls-cert", cert, engine.workspace);
  if (key !== undefined) refuseServed("--tls-key", key, engine.workspace, { isSecret: true });
  using activity = new Activity({
    workspace: engine.workspace,
    state: config["state-dir"],
    transport: "http",
    dialect: dialect.name,
    servesWorkspaces: workspaces !== undefined,
    roots: () => engine.workspace.roots.map(({ path }) => path),
    writeRule: ruleWriter(policy),
  });
  const access = await accessOf(config, engine.workspace, log);
  const certificate = certificateOf(config, log);
  const metricsAddress =
    config["metrics-listen"] === undefined ? undefined : parseAddress(config["metrics-listen"]);
  if (config["metrics-listen"] !== undefined && metricsAddress === undefined)
    throw new UsageError(
      `--metrics-listen needs [HOST:]PORT, not ${JSON.stringify(config["metrics-listen"])}`,
    );
  const telemetry = await openTelemetry(log, config);
  const review = new ReviewDoor({
    access,
    workspace: engine.workspace,
    state: config["state-dir"],
    authenticated,
    secure: certificate !== undefined,
    log,
  });
  const service = await serveHttp({
    address,
    review,
    access,
    tls: certificate?.current,
    metricsAddress,
    authenticated,
    engine,
    dialects,
    dialect: config.dialect ?? defaultDialect,
    settings: dialect => {
      const settings = settingsOf(config, dialect);
      // A remote caller is not the local user: commands run only if they were enabled.
      return { ...settings, anyDirectory: undefined, commands: settings.commands ?? "none" };
    },
    info: { name: "polyfs", version },
    activity,
    log,
    audit: audit && (entry => audit.append(entry)),
    tracing: telemetry?.tracing,
    stateless: config.stateless,
    writesInPlace: (config.run && config["allow-run"] !== undefined) || config["hard-links"] === "keep",
    maxBodyBytes: config["max-body-bytes"],
    sessions: config["max-sessions"],
    hosts: [...hosts, ...ownHost(config["oauth-audience"])],
    origins,
  }).catch(error => {
    throw new UsageError(
      `cannot listen on ${config.http}: ${error instanceof Error ? error.message : error}`,
    );
  });
  const renewal = certificate && setInterval(() => certificate.renew(service), renewalMs).unref();
  const reread = () => {
    access.refresh?.();
    policy.reread?.();
    certificate?.renew(service);
    audit?.reopen();
  };
  // Installed before the start line is logged: a supervisor may send a signal as soon as it reads that line.
  const ended = untilSignal(service, log, reread);
  await warnOfVolatileState(config, engine.workspace, log);
  tellStart(log, config, {
    at: `${service.url}/mcp`,
    dialect,
    commands: settingsOf(config, dialect).commands ?? "none",
    workspace: engine.workspace,
    policy: policy.name,
    sandbox,
    callers: authenticated ? "with a token" : "every user and program of this machine",
    metrics: service.metricsUrl,
    review: `${service.url}/review/${authenticated ? "" : `?token=${await review.ticket()}`}`,
    telemetry: telemetry?.to,
  });
  await ended;
  clearInterval(renewal);
  await telemetry?.end();
}

/** Ends in order on the first signal, and at once on the second. SIGHUP ends nothing: files are read again. */
async function untilSignal(service: HttpService, log: Log, reread: () => void): Promise<void> {
  const survive = (error: unknown) => log.error("unexpected", error);
  process.on("uncaughtException", survive);
  process.on("unhandledRejection", survive);
  await new Promise<void>(resolve => {
    const end = (signal: NodeJS.Signals) => {
      log.info(`ending on ${signal}`);
      void service.close().then(resolve);
    };
    process.on("SIGTERM", end);
    process.on("SIGINT", end);
    process.on("SIGHUP", signal => {
      log.info(`rereading on ${signal}`);
      reread();
    });
  });
}

function listOf(text: string | undefined): string[] {
  return (text ?? "").split(",").flatMap(part => (part.trim() === "" ? [] : [part.trim()]));
}

/** The public host name, if there is a proxy in front. */
function ownHost(audience: string | undefined): string[] {
  return audience !== undefined && URL.canParse(audience) ? [new URL(audience).host] : [];
}
