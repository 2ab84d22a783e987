/** The tools of all servers, grouped and searched together; one of them with its form and its result. */

import { toShellWord } from "@fairlead/core/text/shell-word";
import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { ToolRow } from "../../../protocol/tools.ts";
import { useApp, useCommand, useRoute } from "../../app.ts";
import { CopyCommand } from "../../components/copy.tsx";
import { FilterChips, SearchInput } from "../../components/field.tsx";
import { Link } from "../../components/link.tsx";
import { Empty, Failure, Loading } from "../../components/notice.tsx";
import { View } from "../../components/panel.tsx";
import { type Column, GroupRow, Row, Table } from "../../components/table.tsx";
import { Text } from "../../components/text.tsx";
import { counted, shortNumber } from "../../numbers.ts";
import { toAddress, type ViewAddress } from "../../router.ts";
import { useOutdated } from "../servers/use-outdated.ts";
import { DecisionMark } from "./decision-mark.tsx";
import { ToolView } from "./tool-view.tsx";

export function ToolsView({ path: [server, tool] }: ViewAddress): VNode {
  return server !== undefined && tool !== undefined ? (
    <ToolView key={`${server}/${tool}`} server={server} name={tool} />
  ) : (
    <ToolList server={server} />
  );
}

const columns: readonly Column[] = [
  { id: "tool", title: "Tool", width: "26%", card: "head" },
  { id: "decision", title: "A model's call", width: "120px", card: "head" },
  { id: "description", title: "Description", card: "wide" },
  { id: "tokens", title: "Tokens", width: "70px", align: "end" },
];

type Show = "all" | "changed" | "hidden";

/** Milliseconds after the last key before the words are searched. */
const typingPause = 150;

function ToolList({ server }: { readonly server: string | undefined }): VNode {
  const { router } = useApp();
  const { query } = useRoute();
  const words = query["search"] ?? "";
  const show: Show = query["show"] === "changed" || query["show"] === "hidden" ? query["show"] : "all";
  const list = useCommand("tools/list", {});
  const searched = useSettledText(words.trim());
  const found = useCommand("tools/search", searched === "" ? undefined : { query: searched, limit: 50 });
  useOutdated(undefined, list.reload);
  const tools = (list.value?.tools ?? []).filter((tool) => server === undefined || tool.server === server);
  const filtered = tools.filter((tool) => show === "all" || (show === "changed" ? tool.isChanged : isHidden(tool)));
  const ranked = useMemo(
    () => rankedTools(filtered, searched, found.value?.found),
    [list.value, found.value, show, searched],
  );
  const command =
    searched === ""
      ? `fairlead tools${server === undefined ? "" : ` ${toShellWord(server)}`}`
      : `fairlead tools --search ${toShellWord(searched)}`;
  const chips = [
    { value: "all", text: "All", count: list.value === undefined ? undefined : tools.length },
    { value: "changed", text: "changed", count: tools.filter(({ isChanged }) => isChanged).length },
    { value: "hidden", text: "not offered", count: tools.filter(isHidden).length },
  ] as const;
  return (
    <View title="Tools" tools={<CopyCommand command={command} />}>
      <div class="tools">
        <FilterChips<Show>
          label="Show"
          value={show}
          onChange={(value) => router.setQuery({ show: value === "all" ? undefined : value })}
          chips={chips.filter(({ value, count }) => value === "all" || value === show || count !== 0)}
        />
        <SearchInput
          label="Search the tools by what they do"
          value={words}
          onChange={(value) => router.setQuery({ search: value || undefined })}
        />
        {server !== undefined && (
          <Link to={toAddress(["tools"], query)} class="button button-quiet">
            All servers
          </Link>
        )}
      </div>
      {list.error !== undefined && <Failure error={list.error} onRetry={list.reload} />}
      {list.value === undefined && list.error === undefined && <Loading what="the tools" />}
      {list.value !== undefined && filtered.length === 0 && (
        <Empty title={tools.length === 0 ? "No server has listed a tool yet" : "No tool fits the filter"}>
          {tools.length === 0 && <Link to={toAddress(["servers"])}>Servers and their states</Link>}
        </Empty>
      )}
      {ranked.length > 0 && searched !== "" && (
        <Table label="Tools that fit, best first" columns={columns} class="tool-table">
          {ranked.map((tool) => (
            <ToolLine key={`${tool.server}/${tool.tool}`} tool={tool} hasServer />
          ))}
        </Table>
      )}
      {searched !== "" &&
        list.value !== undefined &&
        !found.isLoading &&
        ranked.length === 0 &&
        filtered.length > 0 && <Empty title="No tool fits these words" />}
      {searched === "" && filtered.length > 0 && (
        <Table label="Tools by server" columns={columns} class="tool-table">
          {byServer(filtered).map(([name, ofServer]) => [
            <GroupRow key={name}>
              <Link to={toAddress(["servers", name])}>
                <Text of={name} exact />
              </Link>{" "}
              <span class="muted">
                {counted(ofServer.length, "tool")}, {shortNumber(sumTokens(ofServer))} tokens
              </span>
            </GroupRow>,
            ...ofServer.map((tool) => <ToolLine key={`${name}/${tool.tool}`} tool={tool} />),
          ])}
        </Table>
      )}
    </View>
  );
}

function ToolLine({ tool, hasServer = false }: { readonly tool: ToolRow; readonly hasServer?: boolean }): VNode {
  const { router } = useApp();
  const address = toAddress(["tools", tool.server, tool.tool]);
  return (
    <Row
      rowKey={`tool ${tool.server} ${tool.tool}`}
      onOpen={() => router.go(address)}
      cells={[
        <Link key="tool" to={address} class="row-link cut" focusKey={`tool ${tool.server} ${tool.tool}`}>
          {hasServer && (
            <span class="muted">
              <Text of={tool.server} exact />.
            </span>
          )}
          <Text of={tool.tool} exact />
        </Link>,
        <DecisionMark key="decision" decision={tool.decision} isChanged={tool.isChanged} hidden={hiddenWord(tool)} />,
        <span key="description" class="cut muted">
          <Text of={firstLine(tool.description)} />
        </span>,
        shortNumber(tool.tokens),
      ]}
    />
  );
}

function hiddenWord({ hidden, isForViews }: ToolRow): string | undefined {
  return isForViews ? "for views only" : hidden === undefined ? undefined : "not offered";
}

function isHidden(tool: ToolRow): boolean {
  return hiddenWord(tool) !== undefined;
}

function firstLine(text: string): string {
  return text.trimStart().split("\n", 1)[0]?.slice(0, 300) ?? "";
}

function sumTokens(tools: readonly ToolRow[]): number {
  return tools.reduce((sum, { tokens }) => sum + tokens, 0);
}

function byServer(tools: readonly ToolRow[]): readonly (readonly [server: string, tools: readonly ToolRow[]])[] {
  const servers = new Map<string, ToolRow[]>();
  for (const tool of tools) {
    const list = servers.get(tool.server) ?? [];
    list.push(tool);
    servers.set(tool.server, list);
  }
  return [...servers];
}

/** The tools that the search has found, best first, and then those whose names contain the words. */
function rankedTools(
  tools: readonly ToolRow[],
  words: string,
  found: readonly { readonly server: string; readonly tool: string }[] = [],
): readonly ToolRow[] {
  const byName = new Map(tools.map((tool) => [keyOf(tool), tool]));
  const best = found.flatMap((each) => byName.get(keyOf(each)) ?? []);
  const lower = words.toLowerCase();
  const named = tools.filter((tool) => `${tool.server}.${tool.tool}`.toLowerCase().includes(lower));
  return [...new Set([...best, ...named])];
}

function keyOf({ server, tool }: { readonly server: string; readonly tool: string }): string {
  return JSON.stringify([server, tool]);
}

function useSettledText(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), typingPause);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
