/** All servers with what they offer and cost, or one of them in full. */

import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { useApp, useRoute } from "../../app.ts";
import { CopyCommand } from "../../components/copy.tsx";
import { SearchInput } from "../../components/field.tsx";
import { Link } from "../../components/link.tsx";
import { Empty } from "../../components/notice.tsx";
import { View } from "../../components/panel.tsx";
import { useCalmOrder } from "../../components/settled.ts";
import { groupOf } from "../../components/state-mark.tsx";
import { Table } from "../../components/table.tsx";
import { fewColumns, useMedia } from "../../components/use-media.ts";
import { useLive, useRows } from "../../live.ts";
import { toAddress, type ViewAddress } from "../../router.ts";
import { useSelection } from "./selection.ts";
import { needColumns, ServerLine, serverColumns } from "./server-line.tsx";
import { byNeed, ListTools, toStateFilter } from "./server-list.tsx";
import { ServerView } from "./server-view.tsx";
import { sortableColumns, sorted, toSort } from "./sort.ts";

export function ServersView({ path: [name, tab] }: ViewAddress): VNode {
  return name === undefined ? <AllServers /> : <ServerView key={name} name={name} tab={tab} />;
}

function AllServers(): VNode {
  const { store, router } = useApp();
  const about = useLive(store.about);
  const rows = useRows(store.servers);
  const { query } = useRoute();
  const filter = toStateFilter(query["state"]);
  const search = query["search"] ?? "";
  const selection = useSelection(rows);
  const box = useRef<HTMLDivElement>(null);
  const isShort = useMedia(fewColumns);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = byNeed(rows).filter((row) => {
    const text = `${row.name} ${row.scope} ${row.transport} ${row.cause ?? ""}`.toLowerCase();
    return (filter === "all" || groupOf(row) === filter) && words.every((word) => text.includes(word));
  });
  const sort = toSort(query["sort"]);
  const names = sorted(shown, sort).map(({ name }) => name);
  const order = useCalmOrder(names, box, `${filter} ${search} ${query["sort"] ?? ""}`);
  return (
    <View
      title="Servers"
      tools={
        <>
          <SearchInput
            label="Filter servers"
            value={search}
            onChange={(value) => router.setQuery({ search: value || undefined })}
          />
          <Link to={toAddress(["add"])}>Add a server</Link>
          <CopyCommand command="fairlead mcp list" />
        </>
      }
    >
      <ListTools rows={rows} shown={names} filter={filter} selection={selection} />
      <div ref={box} class={selection.names.length > 0 ? "is-selecting" : undefined}>
        {about !== undefined && shown.length === 0 && (
          <Empty title={rows.length === 0 ? "No server is configured" : "No server fits the filter"} />
        )}
        {shown.length > 0 && (
          <Table
            label="Servers"
            columns={sortableColumns(
              sort,
              (text) => router.setQuery({ sort: text }),
              isShort ? needColumns : serverColumns,
            )}
            class="server-table"
          >
            {order.map((name) => (
              <ServerLine
                key={name}
                name={name}
                isSelected={selection.has(name)}
                onSelect={selection.set}
                isShort={isShort}
              />
            ))}
          </Table>
        )}
      </div>
    </View>
  );
}
