// Now: calls as they happen, with agent, tool, path, duration and refusal. Never contents.
import { signal } from "@preact/signals";
import type { Call } from "../../src/review/api.ts";
import { Pulse } from "../parts/icons.tsx";
import { Empty, When } from "../parts/states.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { counted, duration, exactTime, timeOfDay } from "../parts/words.ts";
import { isNarrow } from "../state/narrow.ts";
import { calls, held, loadCalls, toggleHold } from "../state/now.ts";
import { go } from "../state/route.ts";
import { session } from "../state/session.ts";

const active = signal<string | undefined>(undefined);
const onlyTroubles = signal(false);

export function Now() {
  return (
    <section class="pane now" aria-label="Calls as they happen">
      <header class="view-head">
        <div class="grow">
          <h1>Now</h1>
          <p class="muted">{servers()}</p>
        </div>
        <div class="buttons">
          <button
            type="button"
            class="button"
            aria-pressed={onlyTroubles.value}
            onClick={() => {
              onlyTroubles.value = !onlyTroubles.value;
            }}
          >
            Refused or failed
          </button>
          <button type="button" class="button" aria-pressed={held.value !== undefined} onClick={toggleHold}>
            {held.value === undefined ? "Pause" : `Resume (${held.value.length} new)`}
          </button>
        </div>
      </header>
      <When of={calls.current.value} what="calls" again={() => void loadCalls()}>
        {all => {
          const shown = onlyTroubles.value ? all.filter(({ outcome }) => outcome !== "ok") : all;
          return shown.length === 0 ? <Quiet /> : <Calls all={shown} />;
        }}
      </When>
    </section>
  );
}

function Quiet() {
  return (
    <Empty
      icon={<Pulse size={36} />}
      title={onlyTroubles.value ? "Nothing refused, nothing failed" : "It is quiet"}
    >
      <p>
        {onlyTroubles.value ? "Every call went through." : "Calls of agents appear here while they are made."}
      </p>
    </Empty>
  );
}

function Calls({ all }: { readonly all: readonly Call[] }) {
  return (
    <VirtualList
      id="calls"
      label="Calls, the latest first"
      role="listbox"
      rows={all}
      heightOf={height}
      keyOf={({ id }) => id}
      active={active.value}
      onMove={({ id }) => {
        active.value = id;
      }}
      onActivate={({ id, changes }) => {
        active.value = id;
        if (changes[0] !== undefined) go({ view: "changes", chosen: { kind: "change", id: changes[0] } });
      }}
      render={(call, index) => (
        <div
          id={`calls-${call.id}`}
          class={`row call ${call.outcome}${call.id === active.value ? " active" : ""}${call.changes.length > 0 ? " leads" : ""}`}
          role="option"
          tabIndex={-1}
          aria-selected={call.id === active.value}
          aria-setsize={all.length}
          aria-posinset={index + 1}
        >
          <time class="muted mono" dateTime={new Date(call.time).toISOString()} title={exactTime(call.time)}>
            {timeOfDay(call.time)}
          </time>
          <span class="who clip" title={call.agent.connection}>
            {call.agent.client}
          </span>
          <span class={`tool mono clip ${call.effect}`}>{call.tool}</span>
          <span class="path mono clip" title={call.paths.join("\n")}>
            {call.paths[0]}
            {call.paths.length > 1 && <span class="muted"> and {call.paths.length - 1} more</span>}
          </span>
          <Outcome call={call} />
          <span class="took muted mono">{duration(call.ms)}</span>
        </div>
      )}
    />
  );
}

function Outcome({ call: { outcome, fault } }: { readonly call: Call }) {
  if (outcome === "ok") return <span class="sr">ok</span>;
  return (
    <span class={`outcome ${outcome}`} title={fault}>
      {outcome}
      {fault !== undefined && <span class="fault"> {fault}</span>}
    </span>
  );
}

function height(): number {
  return isNarrow.value ? 58 : 36;
}

function servers(): string {
  const running = session.value?.servers ?? [];
  if (running.length === 0) return "No server runs on this workspace";
  const dialects = new Set(running.map(({ dialect }) => dialect));
  return `${counted(running.length, "server")} running (${[...dialects].join(", ")})`;
}
