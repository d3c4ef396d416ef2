// The filters of the list: agent, tool, path, time.
import { useEffect } from "preact/hooks";
import type { Facet } from "../../src/review/api.ts";
import { type Filters, facets, filterCount, filters, loadFacets, noFilters } from "../state/filters.ts";

const times = [
  [0, "Any time"],
  [15, "Last 15 minutes"],
  [60, "Last hour"],
  [24 * 60, "Last day"],
  [7 * 24 * 60, "Last week"],
] as const;

export function FilterForm() {
  useEffect(() => void loadFacets(), []);
  const { agent, tool, path, minutes } = filters.value;
  const set = (change: Partial<Filters>) => {
    filters.value = { ...filters.value, ...change };
  };
  return (
    <div class="filters">
      <Choice
        label="Agent"
        value={agent}
        of={facets.value?.agents}
        onChange={value => set({ agent: value })}
      />
      <Choice label="Tool" value={tool} of={facets.value?.tools} onChange={value => set({ tool: value })} />
      <label class="stacked">
        Path
        <input
          class="field"
          placeholder="src/ or *.ts"
          value={path}
          onInput={({ currentTarget }) => set({ path: currentTarget.value.trim() })}
        />
      </label>
      <label class="stacked">
        Time
        <select
          class="field"
          value={minutes}
          onChange={({ currentTarget }) => set({ minutes: Number(currentTarget.value) })}
        >
          {times.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {filterCount.value > 0 && (
        <button
          type="button"
          class="button small"
          onClick={() => {
            filters.value = noFilters;
          }}
        >
          Clear filters
        </button>
      )}
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly of: readonly Facet[] | undefined;
  readonly onChange: (value: string) => void;
}

function Choice({ label, value, of = [], onChange }: ChoiceProps) {
  return (
    <label class="stacked">
      {label}
      <select class="field" value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">Any</option>
        {of.map(({ value: one, count }) => (
          <option key={one} value={one}>
            {one} ({count})
          </option>
        ))}
      </select>
    </label>
  );
}
