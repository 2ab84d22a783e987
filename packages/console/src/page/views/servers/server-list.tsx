/** What the lists of servers have in common: which state is shown, which servers are selected, and what to do with those. */

import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import type { ServerRow } from "../../../protocol/rows.ts";
import { useApp } from "../../app.ts";
import { Button } from "../../components/button.tsx";
import { FilterChips } from "../../components/field.tsx";
import { groupOf, type ServerGroup, serverGroups } from "../../components/state-mark.tsx";
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

export interface ListToolsProps {
  readonly rows: readonly ServerRow[];
  /** The names of the servers that the filter shows. */
  readonly shown: readonly string[];
  readonly filter: StateFilter;
  readonly selection: Selection;
}

/** Above a list of servers: the states with their counts, or what can be done with the selected servers. */
export function ListTools({ rows, shown, filter, selection }: ListToolsProps): VNode | null {
  const { router } = useApp();
  // A state that no server has any more keeps its place: nothing moves away under the pointer.
  const seen = useRef(new Set<ServerGroup>());
  for (const row of rows) seen.current.add(groupOf(row));
  if (rows.length === 0) return null;
  if (selection.names.length > 0) return <SelectionTools shown={shown} selection={selection} />;
  const present = serverGroups.filter((group) => group === filter || seen.current.has(group));
  return (
    <div class="tools state-tools">
      <FilterChips<StateFilter>
        label="Show servers by state"
        value={filter}
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
      {shown.length > 0 && (
        <Button kind="quiet" focusKey="select servers" onPress={() => selection.replace(shown)}>
          Select
        </Button>
      )}
    </div>
  );
}

function SelectionTools({ shown, selection }: Pick<ListToolsProps, "shown" | "selection">): VNode {
  const { api, announcer } = useApp();
  const { names } = selection;
  const run = async (verb: "servers/start" | "servers/restart" | "servers/stop", said: string): Promise<void> => {
    await api.run(verb, { servers: names });
    announcer.done(`${counted(names.length, "server")} ${names.length === 1 ? said : said.replace(/s$/, "")}`);
  };
  return (
    <div class="tools selection-tools" role="group" aria-label="Selected servers">
      <span>
        {names.length} selected
        {names.length < shown.length && (
          <>
            {" · "}
            <button type="button" class="link-button" onClick={() => selection.replace(shown)}>
              all {shown.length}
            </button>
          </>
        )}
      </span>
      <Button icon="again" onPress={() => run("servers/restart", "restarts")}>
        Restart
      </Button>
      <Button icon="play" onPress={() => run("servers/start", "starts")}>
        Start
      </Button>
      <Button icon="stop" onPress={() => run("servers/stop", "stops")}>
        Stop
      </Button>
      <Button kind="quiet" focusKey="select servers" onPress={() => selection.replace([])}>
        Clear
      </Button>
    </div>
  );
}
