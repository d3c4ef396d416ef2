// What answers HTTP requests, without the socket that it listens on: the front door with everything behind it. The
// program listens with it (serve.ts); a program that embeds polyfs gives it requests of its own server (handler.ts).
import type { Session } from "../../contract/session.ts";
import { runningCommands } from "../../engine/shell/living.ts";
import { openFiles } from "../../engine/workspace/system/open-files.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import type { Log } from "../log.ts";
import { type Audit, Recorder } from "../recorder.ts";
import { createServer } from "../server.ts";
import type { RequestTracing } from "../tracing.ts";
import { Bodies } from "./body.ts";
import { CallScheduler } from "./call-scheduler.ts";
import { Endpoint } from "./endpoint.ts";
import { Front } from "./front.ts";
import { HostCheck, type HostCheckOptions } from "./host-check.ts";
import { defaultKeepAliveMs } from "./keep-alive.ts";
import type { ListenAddress } from "./listen-address.ts";
import { Metrics } from "./metrics.ts";
import { RequestContexts } from "./request-context.ts";
import type { ReviewDoor } from "./review-door.ts";
import type { SessionLimits } from "./sessions.ts";
import { notFollowing, storeGauges } from "./store-gauges.ts";
import { Tables, type TablesOptions } from "./tables.ts";
import { WorkspacePrincipals } from "./workspace-principals.ts";

export interface ServiceOptions
  extends Omit<TablesOptions, "create" | "subscriptions">,
    Partial<Pick<TablesOptions, "create">>,
    HostCheckOptions,
    Partial<SessionLimits> {
  readonly access: Authenticator;
  readonly log: Log;
  readonly audit?: Audit;
  readonly tracing?: RequestTracing;
  /** Keep nothing between requests, for use behind a load balancer. */
  readonly stateless?: boolean;
  readonly maxBodyBytes?: number;
  /** What is served at /review; absent where nothing is. */
  readonly review?: ReviewDoor | undefined;
  /** Whether commands, or the server itself, may write into files without replacing them. Default: true. */
  readonly writesInPlace?: boolean;
  /** Whether /metrics is served at another address. */
  readonly separateFigures?: boolean;
  /** That address. */
  readonly metricsAddress?: ListenAddress;
}

export interface Service extends Disposable {
  readonly front: Front;
  /** Takes nothing new, lets calls finish for `graceMs` or until `now`, and stops the rest. */
  drain(graceMs: number, now: Promise<void>): Promise<void>;
}

/** After the last call: for answers to be read, and stopped calls to clean up. */
export const lastMs = 2000;

export function createService(options: ServiceOptions): Service {
  const { access, engine, log, create = createServer } = options;
  const metrics = new Metrics();
  const recorder = new Recorder(engine.workspace, {
    audit: options.audit,
    count: figures => metrics.call(figures),
  });
  const calls = new CallScheduler(recorder, options.tracing);
  const { sessions = 1000, sessionsPerCaller = 100, idleMs = 30 * 60_000, stateless = false } = options;
  const { keepAliveMs = defaultKeepAliveMs } = options;
  const limits = { sessions, sessionsPerCaller, idleMs, keepAliveMs };
  const sessionEnded = (session: Session) => options.tracing?.sessionEnded(session, "http");
  const endpoint = new Endpoint({
    contexts: new RequestContexts(),
    calls,
    log,
    stateless,
    sessionEnded,
    ...limits,
  });
  const places = new WorkspacePrincipals(engine, options.writesInPlace ?? true);
  let isLooking = false;
  const front = new Front({
    hostCheck: new HostCheck(options),
    figuresHostCheck:
      options.metricsAddress && new HostCheck({ ...options, address: options.metricsAddress }),
    access,
    places,
    tables: new Tables({ ...options, create, subscriptions: !stateless }),
    bodies: new Bodies(options.maxBodyBytes ?? 64 * 1024 * 1024),
    endpoint,
    metrics,
    recorder,
    tracing: options.tracing,
    log,
    keepAliveMs,
    review: options.review,
    separateFigures: options.separateFigures ?? false,
    notFollowing: () => {
      const replications = [...options.engine.workspace.replications];
      // An idle server doesn't notice by itself, so each probe starts a check. The next probe reports its result.
      if (!isLooking) {
        isLooking = true;
        void Promise.allSettled(replications.map(one => one.refresh("reads"))).then(() => {
          isLooking = false;
        });
      }
      return notFollowing(replications);
    },
    printMetrics: () =>
      metrics.print([
        gauge("polyfs_sessions", "Open sessions", () => endpoint.sessions.count),
        gauge(
          "polyfs_requests_open",
          "Requests being answered, streams included",
          () => front.openRequests.count,
        ),
        gauge("polyfs_calls_running", "Calls running", () => calls.running),
        gauge("polyfs_calls_waiting", "Calls waiting", () => calls.waiting),
        gauge("polyfs_jobs", "Commands running, those in the background included", runningCommands),
        gauge("polyfs_open_files", "Open files of the process", openFiles),
        ...storeGauges(() => [...options.engine.workspace.replications]),
        gauge("process_resident_memory_bytes", "Resident memory", () => process.memoryUsage.rss()),
      ]),
  });
  return {
    front,
    async drain(graceMs, now) {
      front.ending = true;
      await within(graceMs, front.openRequests.idle(), now);
      front.openRequests.abort();
      await endpoint.close();
      // Not cut short by a second signal: the audit log records what a stopped call has done.
      await within(lastMs, front.openRequests.idle());
    },
    [Symbol.dispose]() {
      options.review?.[Symbol.dispose]();
      recorder[Symbol.dispose]();
      places[Symbol.dispose]();
      access[Symbol.dispose]();
    },
  };
}

function gauge(name: string, help: string, value: () => number | undefined) {
  return { name, help, value };
}

/** Waits for one of the promises, but not longer. */
export async function within(ms: number, ...promises: readonly Promise<void>[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([limit, ...promises]);
  clearTimeout(timer);
}
