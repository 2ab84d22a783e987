/** What the lists of servers have in common: which state is shown, which servers are selected, and what to do with those. */

import type { VNode } from "preact";
import type { ServerRow } from "../../../protocol/rows.ts";
import { useApp } from "../../app.ts";
import { Button } from "../../components/button.tsx";
import { FilterChips } from "../../components/field.tsx";
import { groupOf, type ServerGroup, serverGroups } from "../../components/state-mark.tsx";
import type { Column } from "../../components/table.tsx";
import { counted } from "../../numbers.ts";
import type { Selection } from "./selection.ts";

export type StateFilter = ServerGroup | "all";

/** Servers by how much they need a look; those of one group in the order of the settings. */
export function byNeed(rows: readonly ServerRow[]): readonly ServerRow[] {
  const rank = (row: ServerRow): number => serverGroups.indexOf(groupOf(row));
  return [...rows].sort((one, other) => rank(one) - rank(other));
}

export function toStateFilter(text: string | undefined): StateFilter {
  return serverGroups.find((group) => group === text) ?? "all";
}

export interface StateChipsProps {
  readonly rows: readonly ServerRow[];
  readonly value: StateFilter;
}

/** The states that servers are in now, each with its count. */
export function StateChips({ rows, value }: StateChipsProps): VNode {
  const { router } = useApp();
  const present = serverGroups.filter((group) => group === value || rows.some((row) => groupOf(row) === group));
  return (
    <FilterChips<StateFilter>
      label="Show servers by state"
      value={value}
      onChange={(state) => router.setQuery({ state: state === "all" ? undefined : state })}
      chips={[
        { value: "all", text: "All", count: rows.length },
        ...present.map((group) => ({
          value: group,
          text: group,
          count: rows.filter((row) => groupOf(row) === group).length,
        })),
      ]}
    />
  );
}

/** The columns with a checkbox that selects all shown servers. */
export function withSelectAll(
  columns: readonly Column[],
  shown: readonly string[],
  selection: Selection,
): readonly Column[] {
  if (shown.length === 0) return columns;
  const control = <SelectAll shown={shown} selection={selection} />;
  return columns.map((column) => (column.id === "select" ? { ...column, control } : column));
}

function SelectAll({ shown, selection }: { readonly shown: readonly string[]; readonly selection: Selection }): VNode {
  const count = shown.filter(selection.has).length;
  const others = selection.names.filter((name) => !shown.includes(name));
  return (
    <label class="check">
      <input
        type="checkbox"
        aria-label="Select all shown servers"
        checked={count > 0 && count === shown.length}
        indeterminate={count > 0 && count < shown.length}
        onChange={({ currentTarget }) => selection.replace(currentTarget.checked ? [...others, ...shown] : others)}
      />
    </label>
  );
}

/** What can be done with the selected servers. */
export function SelectionTools({ selection }: { readonly selection: Selection }): VNode | null {
  const { api, announcer } = useApp();
  const { names } = selection;
  if (names.length === 0) return null;
  const run = async (verb: "servers/start" | "servers/restart" | "servers/stop", said: string): Promise<void> => {
    await api.run(verb, { servers: names });
    announcer.done(`${counted(names.length, "server")} ${names.length === 1 ? said : said.replace(/s$/, "")}`);
  };
  return (
    <div class="tools selection-tools" role="group" aria-label="Selected servers">
      <span>{names.length} selected</span>
      <Button icon="again" onPress={() => run("servers/restart", "restarts")}>
        Restart
      </Button>
      <Button icon="play" onPress={() => run("servers/start", "starts")}>
        Start
      </Button>
      <Button icon="stop" onPress={() => run("servers/stop", "stops")}>
        Stop
      </Button>
      <Button kind="quiet" onPress={() => selection.replace([])}>
        Clear
      </Button>
    </div>
  );
}
