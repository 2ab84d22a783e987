/** The log of a server: what its file has, and each line that follows. */

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useApp, useCommand } from "../../app.ts";
import { Button } from "../../components/button.tsx";
import { CopyButton } from "../../components/copy.tsx";
import { SearchInput } from "../../components/field.tsx";
import { Empty, Failure, Loading } from "../../components/notice.tsx";
import { Text } from "../../components/text.tsx";
import { VirtualList } from "../../components/virtual-list.tsx";
import { Live, useLive } from "../../live.ts";

const mostLines = 10_000;
const lineHeight = 18;

/** Lines with the number of the first one, counted from when the view was opened. */
interface Lines {
  readonly first: number;
  readonly lines: readonly string[];
}

export function ServerLog({ name }: { readonly name: string }): VNode {
  const { store } = useApp();
  const file = useCommand("servers/log", { server: name, lines: 2000 });
  const [live] = useState(() => new Live<Lines>({ first: 0, lines: [] }, store.flusher));
  const { first, lines: newer } = useLive(live);
  const [search, setSearch] = useState("");
  const [isFollowing, setFollowing] = useState(true);
  useEffect(
    () =>
      store.onEvent("log", ({ server, line }) => {
        if (server !== name) return;
        const { first: from, lines } = live.value;
        const next = [...lines, line];
        const removed = Math.max(0, next.length - mostLines);
        live.set({ first: from + removed, lines: removed > 0 ? next.slice(removed) : next });
      }),
    [name, store],
  );
  if (file.error !== undefined) return <Failure error={file.error} onRetry={file.reload} />;
  if (file.value === undefined) return <Loading what="the log" />;
  const all = [...file.value.lines, ...newer];
  const word = search.toLowerCase();
  const shown = word === "" ? all : all.filter((line) => line.toLowerCase().includes(word));
  return (
    <div class="server-log">
      <div class="tools">
        <SearchInput label="Filter the log" value={search} onChange={setSearch} />
        <Button isPressed={isFollowing} onPress={() => setFollowing(!isFollowing)}>
          Follow
        </Button>
        <span class="muted fact-copy">
          <Text of={file.value.file} exact class="mono" />
          <CopyButton text={file.value.file} what="the path of the log" />
        </span>
      </div>
      {shown.length === 0 ? (
        <Empty title={all.length === 0 ? "The server has written nothing" : "No line fits the filter"} />
      ) : (
        <VirtualList
          label={`Log of the server, ${shown.length} lines`}
          class="log-list"
          role="log"
          count={shown.length}
          first={first}
          rowHeight={lineHeight}
          isFollowing={isFollowing}
          onFollow={setFollowing}
          renderRow={(index) => <Text of={shown[index] ?? ""} exact class="log-line" />}
        />
      )}
    </div>
  );
}
