// The rows of the list: tasks with their files, single changes, places found.
import type { ChangeSummary, FileSummary, TaskSummary } from "../../src/review/api.ts";
import { Check, Chevron, Comment } from "../parts/icons.tsx";
import { counted, exactTime, when } from "../parts/words.ts";
import type { FoundPlace } from "../state/history.ts";
import type { ChosenDetail } from "../state/route.ts";

export type ChangeRow =
  | { readonly kind: "task"; readonly key: string; readonly task: TaskSummary; readonly isOpen: boolean }
  | { readonly kind: "file"; readonly key: string; readonly task: TaskSummary; readonly file: FileSummary }
  | { readonly kind: "rest"; readonly key: string; readonly task: TaskSummary }
  | { readonly kind: "change"; readonly key: string; readonly change: ChangeSummary }
  | { readonly kind: "hit"; readonly key: string; readonly hit: FoundPlace };

export function rowsOfTasks(tasks: readonly TaskSummary[], expanded: ReadonlySet<string>): ChangeRow[] {
  return tasks.flatMap((task): ChangeRow[] => {
    const isOpen = expanded.has(task.id);
    const head: ChangeRow = { kind: "task", key: `t-${task.id}`, task, isOpen };
    if (!isOpen) return [head];
    const files = task.files.map(
      (file, i): ChangeRow => ({ kind: "file", key: `f-${task.id}-${i}`, task, file }),
    );
    const rest: ChangeRow[] =
      task.fileCount > files.length ? [{ kind: "rest", key: `r-${task.id}`, task }] : [];
    return [head, ...files, ...rest];
  });
}

export function heightOf({ kind }: ChangeRow): number {
  return kind === "file" || kind === "rest" ? 32 : 60;
}

export function chosenBy(row: ChangeRow): ChosenDetail {
  if (row.kind === "change") return { kind: "change", id: row.change.id };
  if (row.kind === "hit") {
    const { change, path, line, side } = row.hit;
    return { kind: "change", id: change, path, line, side };
  }
  return { kind: "task", id: row.task.id, ...(row.kind === "file" && { path: row.file.path }) };
}

interface Props {
  readonly row: ChangeRow;
  readonly id: string;
  readonly isActive: boolean;
  readonly place: number;
  readonly total: number;
  readonly onToggle: (task: TaskSummary) => void;
}

export function RowView({ row, id, isActive, place, total, onToggle }: Props) {
  const isTree = row.kind === "task" || row.kind === "file" || row.kind === "rest";
  const aria = {
    role: isTree ? "treeitem" : "option",
    ...(isTree && { "aria-level": row.kind === "task" ? 1 : 2 }),
    ...(row.kind === "task" && { "aria-expanded": row.isOpen }),
    "aria-selected": isActive,
    "aria-setsize": total,
    "aria-posinset": place + 1,
  } as const;
  return (
    <div id={id} class={`row ${row.kind}${isActive ? " active" : ""}`} tabIndex={-1} {...aria}>
      <Inside row={row} onToggle={onToggle} />
    </div>
  );
}

function Inside({ row, onToggle }: Pick<Props, "row" | "onToggle">) {
  switch (row.kind) {
    case "task":
      return <TaskRow {...row} onToggle={onToggle} />;
    case "file":
      return (
        <>
          <span class="grow clip mono" title={row.file.name}>
            <Effect file={row.file} /> {row.file.name}
          </span>
          <Counts {...row.file} />
        </>
      );
    case "rest":
      return (
        <span class="muted">and {counted(row.task.fileCount - row.task.files.length, "more file")}</span>
      );
    case "change":
      return <ChangeRow change={row.change} />;
    case "hit":
      return <HitRow hit={row.hit} />;
  }
}

function TaskRow({
  task,
  isOpen,
  onToggle,
}: { readonly task: TaskSummary; readonly isOpen: boolean } & Pick<Props, "onToggle">) {
  const { agent, to, files, fileCount, changeCount, standing, kept, notes } = task;
  return (
    <>
      {/* The arrow keys do the same; aria-expanded informs screen readers. */}
      <button
        type="button"
        class={`twist${isOpen ? " open" : ""}`}
        tabIndex={-1}
        aria-hidden="true"
        onClick={event => {
          event.stopPropagation();
          onToggle(task);
        }}
      >
        <Chevron size={15} />
      </button>
      <span class="grow">
        <span class="line">
          <strong class="grow clip">{agent.client}</strong>
          <time class="muted" dateTime={new Date(to).toISOString()} title={exactTime(to)}>
            {when(to)}
          </time>
        </span>
        <span class="line muted">
          <span class="grow clip">
            {fileCount === 1 ? files[0]?.name : counted(fileCount, "file")}
            {changeCount > 1 && ` · ${counted(changeCount, "change")}`}
          </span>
          <Marks kept={kept} isUndone={standing === 0} notes={notes} />
          <Counts {...sum(files)} />
        </span>
      </span>
    </>
  );
}

function ChangeRow({ change }: { readonly change: ChangeSummary }) {
  const { agent, time, tool, files, fileCount, kept, state, undoes, notes } = change;
  const [first] = files;
  return (
    <span class="grow">
      <span class="line">
        <span class="grow clip mono" title={first?.name}>
          {first === undefined ? tool : first.name}
          {fileCount > 1 && <span class="muted"> and {fileCount - 1} more</span>}
        </span>
        <time class="muted" dateTime={new Date(time).toISOString()} title={exactTime(time)}>
          {when(time)}
        </time>
      </span>
      <span class="line muted">
        <span class="grow clip">
          {agent.client} · {undoes === undefined ? tool : `${tool} of ${undoes}`}
        </span>
        <Marks kept={kept} isUndone={state === "undone"} notes={notes} />
        <Counts {...sum(files)} />
      </span>
    </span>
  );
}

function HitRow({ hit }: { readonly hit: FoundPlace }) {
  const { name, line, side, text, start, end, time } = hit;
  const from = Math.max(0, start - 30);
  return (
    <span class="grow">
      <span class="line">
        <span class="grow clip mono" title={name}>
          {name}:{line}
        </span>
        <span class="muted">
          {side === "old" ? "before · " : ""}
          {when(time)}
        </span>
      </span>
      <span class="line mono muted clip">
        {from > 0 && "…"}
        {text.slice(from, start).trimStart()}
        <mark>{text.slice(start, end)}</mark>
        {text.slice(end)}
      </span>
    </span>
  );
}

interface MarksProps {
  readonly kept: boolean;
  readonly isUndone: boolean;
  readonly notes: number;
}

function Marks({ kept, isUndone, notes }: MarksProps) {
  return (
    <>
      {notes > 0 && (
        <span class="mark" title={counted(notes, "note")}>
          <Comment size={13} />
          <span class="sr">{counted(notes, "note")}</span>
        </span>
      )}
      {isUndone ? (
        <span class="mark">undone</span>
      ) : (
        kept && (
          <span class="mark kept">
            <Check size={13} /> kept
          </span>
        )
      )}
    </>
  );
}

const letters = { created: "A", changed: "M", removed: "D", moved: "R", copied: "A", mode: "M" } as const;
const effectWords = {
  created: "created",
  changed: "changed",
  removed: "removed",
  moved: "moved",
  copied: "copied",
  mode: "mode changed",
} as const;

function Effect({ file: { effect } }: { readonly file: FileSummary }) {
  return (
    <span class={`letter ${effect}`} title={effectWords[effect]}>
      <span aria-hidden="true">{letters[effect]}</span>
      <span class="sr">{effectWords[effect]}</span>
    </span>
  );
}

interface Lines {
  readonly added?: number | undefined;
  readonly removed?: number | undefined;
}

export function Counts({ added, removed }: Lines) {
  if (added === undefined || removed === undefined) return null;
  return (
    <span class="counts">
      <span class="sr">{`${counted(added, "line")} added, ${removed} removed`}</span>
      <span aria-hidden="true">
        <span class="add">+{added}</span> <span class="del">−{removed}</span>
      </span>
    </span>
  );
}

function sum(files: readonly FileSummary[]): Lines {
  const known = files.filter(({ added }) => added !== undefined);
  if (known.length === 0) return {};
  const of = (key: "added" | "removed") => known.reduce((total, file) => total + (file[key] ?? 0), 0);
  return { added: of("added"), removed: of("removed") };
}
