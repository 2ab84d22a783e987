/** The history of requests: what ran, which rule decided, who answered and how it ended. The address has the filter. */

import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Params, Result } from "../../../protocol/commands.ts";
import { toCommandError, useApp, useCommand, useRoute } from "../../app.ts";
import { clockText, timeText, tookText } from "../../components/age.tsx";
import { Button } from "../../components/button.tsx";
import { CopyCommand } from "../../components/copy.tsx";
import { FilterChips, SearchInput, Select } from "../../components/field.tsx";
import { JsonTree } from "../../components/json-tree.tsx";
import { Link } from "../../components/link.tsx";
import { Empty, Failure, Loading } from "../../components/notice.tsx";
import { DetailPanel, Facts, SplitView, View } from "../../components/panel.tsx";
import { type State, StateMark } from "../../components/state-mark.tsx";
import { type Column, GroupRow, Row, Table } from "../../components/table.tsx";
import { Text, visibleText, withoutFolders } from "../../components/text.tsx";
import { fewColumns, useMedia } from "../../components/use-media.ts";
import { Live, useLive } from "../../live.ts";
import { toAddress } from "../../router.ts";
import { historyCommand } from "./history-command.ts";

export type Entry = Result<"history/list">["entries"][number];
type Search = Params<"history/list">;
type OutcomeFilter = NonNullable<Search["outcome"]> | "all";

const pageSize = 100;

const columns: readonly Column[] = [
  { id: "outcome", title: "Outcome", width: "110px", card: "head" },
  { id: "time", title: "Time", width: "76px", card: "head" },
  { id: "request", title: "Request", card: "wide" },
  { id: "client", title: "From", width: "128px" },
  { id: "rule", title: "Rule that decided", width: "28%", card: "wide" },
  { id: "answer", title: "Answered", width: "90px" },
  { id: "took", title: "Took", width: "70px", align: "end" },
];

/** The columns that have room beside the details, and in a narrow window. The details have the others. */
const besidePanel: ReadonlySet<string> = new Set(["outcome", "time", "request", "client", "took"]);

const outcomes: readonly { readonly value: OutcomeFilter; readonly text: string }[] = [
  { value: "all", text: "All" },
  { value: "ok", text: "ok" },
  { value: "failed", text: "failed" },
  { value: "denied", text: "denied" },
];

export function HistoryView(): VNode {
  const { store, api, router } = useApp();
  const { query } = useRoute();
  const servers = useLive(store.servers.ids);
  const search: Search = {
    limit: pageSize,
    server: query["server"],
    client: query["client"],
    search: query["search"],
    outcome: outcomes.find(({ value }) => value !== "all" && value === query["outcome"])?.value as Search["outcome"],
  };
  const first = useCommand("history/list", search);
  const [older, setOlder] = useState<{
    readonly of?: Result<"history/list">;
    readonly entries: readonly Entry[];
    readonly next?: string | undefined;
  }>({ entries: [] });
  const [ended] = useState(() => new Live(0, store.flusher));
  const newer = useLive(ended);
  useEffect(
    () =>
      store.onEvent("call", ({ call }) => {
        if (call.endedAt !== undefined) ended.set(ended.value + 1);
      }),
    [store],
  );
  const page = first.value;
  const isSame = older.of === page;
  const entries = page === undefined ? [] : [...page.entries, ...(isSame ? older.entries : [])];
  const next = isSame ? older.next : page?.next;
  const readOlder = async (): Promise<void> => {
    const result = await api.run("history/list", { ...search, before: next });
    setOlder({ of: page, entries: [...(isSame ? older.entries : []), ...result.entries], next: result.next });
  };
  const chosen = entries.find(({ id }) => id === query["entry"]);
  // The details have the other columns.
  const isShort = useMedia(fewColumns) || chosen !== undefined;
  const clients = useMemo(() => [...new Set(entries.flatMap(({ client }) => client ?? []))].sort(), [page, older]);
  const set = (name: string, value: string): void => router.setQuery({ [name]: value || undefined, entry: undefined });
  return (
    <View title="History" tools={<CopyCommand command={historyCommand(search)} />}>
      <div class="tools">
        <FilterChips<OutcomeFilter>
          label="Outcome"
          chips={outcomes}
          value={search.outcome ?? "all"}
          onChange={(value) => set("outcome", value === "all" ? "" : value)}
        />
        <Select
          label="Server"
          value={query["server"] ?? ""}
          options={withCurrent("All servers", servers, query["server"])}
          onChange={(value) => set("server", value)}
        />
        <Select
          label="Client"
          value={query["client"] ?? ""}
          options={withCurrent("All clients", clients, query["client"])}
          onChange={(value) => set("client", value)}
        />
        <SearchInput
          label="Search the history"
          value={query["search"] ?? ""}
          onChange={(value) => set("search", value)}
        />
        {newer > 0 && (
          <Button
            icon="again"
            onPress={() => {
              ended.set(0);
              first.reload();
            }}
          >
            Show newer
          </Button>
        )}
      </div>
      {first.error !== undefined && <Failure error={first.error} onRetry={first.reload} />}
      {page === undefined && first.error === undefined && <Loading what="the history" />}
      {page !== undefined && entries.length === 0 && (
        <Empty title={isFiltered(search) ? "No request fits the filter" : "No request was made yet"}>
          {!isFiltered(search) && <p>Each call, read and prompt appears here with the rule that decided.</p>}
        </Empty>
      )}
      {entries.length > 0 && (
        <SplitView
          panel={chosen && <EntryPanel entry={chosen} onClose={() => router.setQuery({ entry: undefined })} />}
        >
          <Table
            label="Requests, newest first"
            columns={isShort ? columns.filter(({ id }) => besidePanel.has(id)) : columns}
            class="history-table"
          >
            {byDay(entries).map(([day, ofDay]) => [
              <GroupRow key={day}>{day}</GroupRow>,
              ...ofDay.map((entry) => <EntryRow key={entry.id} entry={entry} chosen={chosen} isShort={isShort} />),
            ])}
          </Table>
          {next !== undefined && (
            <p class="history-more">
              <Button onPress={() => readOlder().catch((error: unknown) => Promise.reject(toCommandError(error)))}>
                Show older
              </Button>
            </p>
          )}
        </SplitView>
      )}
    </View>
  );
}

interface EntryRowProps {
  readonly entry: Entry;
  readonly chosen: Entry | undefined;
  /** Only the columns of `besidePanel`. */
  readonly isShort: boolean;
}

function EntryRow({ entry, chosen, isShort }: EntryRowProps): VNode {
  const { router } = useApp();
  const { query } = useRoute();
  const address = toAddress(["history"], { ...query, entry: entry.id });
  return (
    <Row
      rowKey={`entry ${entry.id}`}
      isSelected={entry === chosen || undefined}
      onOpen={() => router.setQuery({ entry: entry.id })}
      cells={[
        <StateMark key="outcome" {...outcomeState(entry)} />,
        <time key="time" class="age" dateTime={entry.time} title={timeText(Date.parse(entry.time))}>
          {clockText(Date.parse(entry.time))}
        </time>,
        <Link key="request" to={address} class="row-link cut" focusKey={`entry ${entry.id}`}>
          {entry.kind !== "tool" && <span class="muted">{entry.kind} </span>}
          <Text of={entry.server} exact />.<Text of={entry.tool} exact />
        </Link>,
        entry.client === undefined ? (
          <span key="client" class="unknown">
            –
          </span>
        ) : (
          <Text key="client" of={entry.client} exact />
        ),
        ...(!isShort
          ? [
              <span key="rule" class="cut muted" title={visibleText(entry.rule, false, true)}>
                <Text of={withoutFolders(entry.rule)} exact />
              </span>,
              answerWords(entry),
            ]
          : []),
        entry.durationMs === 0 ? <span class="unknown">–</span> : tookText(entry.durationMs),
      ]}
    />
  );
}

function EntryPanel({ entry, onClose }: { readonly entry: Entry; readonly onClose: () => void }): VNode {
  const { server, tool, kind, client, workspace, decision, rule, ruleOrigin, mode, outcome, argumentsDigest } = entry;
  return (
    <DetailPanel
      label="Request"
      title={
        <>
          <Text of={server} exact />.<Text of={tool} exact />
        </>
      }
      onClose={onClose}
      returnTo={`entry ${entry.id}`}
    >
      <StateMark {...outcomeState(entry)} />
      <Facts
        rows={[
          ["time", timeText(Date.parse(entry.time))],
          outcome.replaceAll("_", " ") === outcomeState(entry).word
            ? undefined
            : ["outcome", outcome.replaceAll("_", " ")],
          ["kind", kind],
          ["from", client === undefined ? "you or a model" : <Text key="client" of={client} exact />],
          ["decision", `${decision} (mode ${mode})`],
          ["rule", <Text key="rule" of={ruleOrigin === undefined ? rule : withoutFolders(rule)} exact />],
          ruleOrigin === undefined
            ? undefined
            : ["written in", <Text key="origin" of={originText(ruleOrigin)} exact class="mono" />],
          ["answered", answerWords(entry) || "not asked"],
          entry.durationMs === 0 ? undefined : ["took", tookText(entry.durationMs)],
          entry.confirmationMs === undefined
            ? undefined
            : ["waited for", `${tookText(entry.confirmationMs)} for the answer`],
          workspace === undefined
            ? undefined
            : ["workspace", <Text key="workspace" of={workspace} exact class="mono" />],
          ["digest", <code key="digest">{argumentsDigest}</code>],
        ]}
      />
      {entry.arguments !== undefined && (
        <div>
          <h3>Arguments</h3>
          <JsonTree value={entry.arguments} label="Arguments" isExact />
        </div>
      )}
      {entry.arguments === undefined && (
        <p class="muted">
          The arguments are not kept. The setting <code>fairlead.audit.arguments</code> keeps those of later requests.
        </p>
      )}
      <p>
        <Link to={toAddress(["servers", server])}>
          Server <Text of={server} exact />
        </Link>
      </p>
    </DetailPanel>
  );
}

function originText(origin: NonNullable<Entry["ruleOrigin"]>): string {
  return typeof origin === "string"
    ? origin
    : Object.entries(origin)
        // A rule of a file is told by its file and line.
        .filter(([name, part]) => typeof part !== "object" && (name !== "source" || !("file" in origin)))
        .map(([, part]) => part)
        .join(":");
}

function outcomeState({ outcome, decision }: Entry): State {
  if (outcome === "ok") return { word: "ok", shape: "check", tone: "ok" };
  if (outcome === "cancelled") return { word: "cancelled", shape: "dash", tone: "idle" };
  if (outcome === "denied" || decision === "deny") return { word: "denied", shape: "dash", tone: "bad" };
  return { word: outcome.replaceAll("_", " "), shape: "cross", tone: "bad" };
}

/** Who confirmed the request, or why it was not confirmed. */
function answerWords({ answer, answeredIn, refusal }: Entry): string {
  if (refusal === "no_terminal") return "no answer";
  if (answeredIn !== undefined) return answeredIn.replaceAll("_", " ");
  if (refusal === "user") return "no";
  if (refusal === "edited") return "changed";
  if (answer === undefined) return "";
  return { asked: "yes", in_advance: "in advance", typed: "typed" }[answer];
}

function isFiltered({ server, client, search, outcome }: Search): boolean {
  return [server, client, search, outcome].some((value) => value !== undefined && value !== "");
}

/** The options of a filter. A value of the address that is not in the list is an option too. */
function withCurrent(
  all: string,
  values: readonly string[],
  current: string | undefined,
): readonly { readonly value: string; readonly text: string }[] {
  const listed = current === undefined || values.includes(current) ? values : [...values, current];
  return [{ value: "", text: all }, ...listed.map((value) => ({ value, text: value }))];
}

/** Entries by their day, in their order. */
function byDay(entries: readonly Entry[]): readonly (readonly [day: string, entries: readonly Entry[]])[] {
  const days = new Map<string, Entry[]>();
  for (const entry of entries) {
    const day = new Date(entry.time).toLocaleDateString("en-GB", { weekday: "long", day: "numeric", month: "long" });
    days.set(day, [...(days.get(day) ?? []), entry]);
  }
  return [...days];
}
