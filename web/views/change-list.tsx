// The left pane of Changes: search, filters, and the list of tasks, changes or places found.
import { computed, signal } from "@preact/signals";
import { Filter, Pages } from "../parts/icons.tsx";
import { Empty, When } from "../parts/states.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { filterCount, filters, noFilters, searchText } from "../state/filters.ts";
import { changes, expanded, found, grouping, isPartial, tasks } from "../state/history.ts";
import type { Loadable } from "../state/loadable.ts";
import { isNarrow } from "../state/narrow.ts";
import { go, route } from "../state/route.ts";
import { isEmbedded, session } from "../state/session.ts";
import { type ChangeRow, chosenBy, heightOf, RowView, rowsOfTasks } from "./change-rows.tsx";
import { FilterForm } from "./filter-form.tsx";

const listId = "changes-list";

const showFilters = signal(false);

/** The row that the keys are at; the chosen one, until they move on. */
const active = signal<string | undefined>(undefined);

const isSearch = computed(() => searchText.value.trim() !== "");

const rows = computed((): Loadable<readonly ChangeRow[]> => {
  if (isSearch.value)
    return mapped(found.current.value, hits =>
      hits.map((hit, i) => ({ kind: "hit", key: `h-${i}`, hit }) as const),
    );
  if (grouping.value === "changes")
    return mapped(changes.current.value, all =>
      all.map(change => ({ kind: "change", key: `c-${change.id}`, change }) as const),
    );
  return mapped(tasks.current.value, all => rowsOfTasks(all, expanded.value));
});

const list = computed(() => (isSearch.value ? found : grouping.value === "changes" ? changes : tasks));

export function ChangeList() {
  return (
    <section class="pane list" aria-label="List of changes">
      {!isEmbedded.value && <ListTools />}
      <When of={rows.value} what="changes" again={() => void list.value.reload()}>
        {all => (all.length === 0 ? <Nothing /> : <Rows all={all} />)}
      </When>
      {isSearch.value && isPartial.value && (
        <p class="foot muted">
          Searched for a while and stopped.{" "}
          <button type="button" class="button small" onClick={() => void found.fetchMore()}>
            Search further back
          </button>
        </p>
      )}
    </section>
  );
}

function ListTools() {
  return (
    <div class="list-tools">
      <div class="line">
        <input
          id="search"
          class="field grow"
          type="search"
          placeholder="Search all changes"
          aria-label="Search in the contents of all changes"
          value={searchText.value}
          onInput={({ currentTarget }) => {
            searchText.value = currentTarget.value;
          }}
        />
        <button
          type="button"
          class="button"
          aria-expanded={showFilters.value}
          aria-controls="filters"
          onClick={() => {
            showFilters.value = !showFilters.value;
          }}
        >
          <Filter size={15} /> Filters
          {filterCount.value > 0 && <span class="badge">{filterCount.value}</span>}
        </button>
      </div>
      <div id="filters" hidden={!showFilters.value}>
        {showFilters.value && <FilterForm />}
      </div>
      {!isSearch.value && (
        <div class="line">
          <fieldset class="segments plain">
            <legend class="sr">Group by</legend>
            {(["tasks", "changes"] as const).map(one => (
              <button
                key={one}
                type="button"
                class="button small"
                aria-pressed={grouping.value === one}
                onClick={() => {
                  grouping.value = one;
                }}
              >
                {one === "tasks" ? "Tasks" : "Changes"}
              </button>
            ))}
          </fieldset>
          <span class="grow" />
          <ListCount />
        </div>
      )}
    </div>
  );
}

function ListCount() {
  const all = list.value.current.value;
  if (all.state !== "ready") return null;
  return (
    <span class="muted small-text">
      {all.value.length.toLocaleString("en")}
      {list.value.more.value && "+"}
    </span>
  );
}

function Rows({ all }: { readonly all: readonly ChangeRow[] }) {
  const isTree = all[0]?.kind === "task";
  const { chosen } = route.value;
  const at = active.value ?? all.find(row => isChosen(row, chosen))?.key;
  const choose = (row: ChangeRow, replace: boolean) => {
    active.value = row.key;
    go({ view: "changes", chosen: chosenBy(row) }, { replace });
  };
  const expand = (id: string, isOpen: boolean) => {
    const next = new Set(expanded.value);
    if (isOpen) next.add(id);
    else next.delete(id);
    expanded.value = next;
  };
  return (
    <VirtualList
      id={listId}
      label={isSearch.value ? "Places found" : isTree ? "Tasks and their files" : "Changes"}
      role={isTree ? "tree" : "listbox"}
      rows={all}
      heightOf={heightOf}
      keyOf={({ key }) => key}
      active={at}
      onActivate={(row, isKey) => {
        if (isKey) {
          choose(row, false);
          document.getElementById("detail")?.focus();
        } else if (row.kind === "task" && row.key === at) expand(row.task.id, !row.isOpen);
        else choose(row, !isNarrow.value);
      }}
      onMove={row => {
        if (!isNarrow.value) choose(row, true);
        else active.value = row.key;
      }}
      onExpand={(row, isOpen) => {
        if (row.kind === "task") expand(row.task.id, isOpen);
        else if (row.kind === "file" && !isOpen) {
          expand(row.task.id, false);
          active.value = `t-${row.task.id}`;
        }
      }}
      onEnd={() => void list.value.fetchMore()}
      render={(row, index) => (
        <RowView
          row={row}
          id={`${listId}-${row.key}`}
          isActive={row.key === at}
          place={index}
          total={list.value.more.value ? -1 : all.length}
          onToggle={task => expand(task.id, !expanded.value.has(task.id))}
        />
      )}
    />
  );
}

function Nothing() {
  const isNarrow = isSearch.value || filterCount.value > 0;
  return (
    <Empty icon={<Pages size={36} />} title={isNarrow ? "Nothing matches" : "No changes yet"}>
      {isNarrow ? (
        <>
          <p>No change matches the search and the filters.</p>
          <button
            type="button"
            class="button"
            onClick={() => {
              searchText.value = "";
              filters.value = noFilters;
            }}
          >
            Clear search and filters
          </button>
        </>
      ) : session.value?.mode === "http" && session.value.roots.length === 0 ? (
        <p>
          This page has no directory. The page of a workspace is at <code>/review/w/NAME/</code>.
        </p>
      ) : (
        <p>As soon as an agent changes a file through polyfs, the change appears here.</p>
      )}
    </Empty>
  );
}

function isChosen(row: ChangeRow, chosen: ReturnType<typeof chosenBy> | undefined): boolean {
  if (chosen === undefined) return false;
  const own = chosenBy(row);
  return (
    own.kind === chosen.kind && own.id === chosen.id && own.path === chosen.path && own.line === chosen.line
  );
}

function mapped<T, U>(of: Loadable<T>, change: (value: T) => U): Loadable<U> {
  return of.state === "ready" ? { state: "ready", value: change(of.value) } : of;
}
