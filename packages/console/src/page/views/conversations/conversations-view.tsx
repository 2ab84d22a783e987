/** Recorded conversations, and one of them as it happened: messages, calls with their results, and how each turn ended. */

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { ConversationRow } from "../../../protocol/conversations.ts";
import { toCommandError, useApp, useCommand, useRoute } from "../../app.ts";
import { Age, timeText, tookText } from "../../components/age.tsx";
import { Button } from "../../components/button.tsx";
import { CopyCommand } from "../../components/copy.tsx";
import { FilterChips } from "../../components/field.tsx";
import { JsonTree } from "../../components/json-tree.tsx";
import { Link } from "../../components/link.tsx";
import { Markdown } from "../../components/markdown.tsx";
import { Empty, Failure, Loading, Notice } from "../../components/notice.tsx";
import { View } from "../../components/panel.tsx";
import { type State, StateMark } from "../../components/state-mark.tsx";
import { type Column, Row, Table } from "../../components/table.tsx";
import { Text, visibleText } from "../../components/text.tsx";
import { counted } from "../../numbers.ts";
import { toAddress, type ViewAddress } from "../../router.ts";
import { asJson, type Json } from "../calls/content-block.tsx";
import { type ConversationEntry, entriesOf } from "./entries.ts";

const columns: readonly Column[] = [
  { id: "title", title: "Conversation", card: "head" },
  { id: "model", title: "Model", width: "20%" },
  { id: "turns", title: "Turns", width: "64px", align: "end" },
  { id: "calls", title: "Calls", width: "64px", align: "end" },
  { id: "updated", title: "Last", width: "90px", align: "end" },
];

export function ConversationsView({ path: [id] }: ViewAddress): VNode {
  return id === undefined ? <ConversationList /> : <Replay key={id} id={id} />;
}

function ConversationList(): VNode {
  const { router } = useApp();
  const { query } = useRoute();
  const all = query["all"] === "true";
  const { value, error, reload } = useCommand("conversations/list", { limit: 200, all });
  return (
    <View title="Conversations" tools={<CopyCommand command="fairlead conversations" />}>
      <div class="tools">
        <FilterChips<"here" | "all">
          label="Which conversations"
          value={all ? "all" : "here"}
          onChange={(chosen) => router.setQuery({ all: chosen === "all" ? "true" : undefined })}
          chips={[
            { value: "here", text: "this workspace" },
            { value: "all", text: "all workspaces" },
          ]}
        />
      </div>
      {error !== undefined && <Failure error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Loading what="the conversations" />}
      {value?.conversations.length === 0 && (
        <Empty title="No conversation was recorded here">
          <p>
            Conversations with a model begin in a terminal: <CopyCommand command="fairlead" />
          </p>
        </Empty>
      )}
      {value !== undefined && value.conversations.length > 0 && (
        <Table label="Conversations, latest first" columns={columns}>
          {value.conversations.map((conversation) => (
            <ConversationLine key={conversation.id} conversation={conversation} />
          ))}
        </Table>
      )}
    </View>
  );
}

function titleOf({ title, firstWords }: ConversationRow): string {
  return title ?? (firstWords === "" ? "(empty)" : firstWords);
}

function ConversationLine({ conversation }: { readonly conversation: ConversationRow }): VNode {
  const { router } = useApp();
  const { id, model, turns, calls, updatedAt } = conversation;
  const address = toAddress(["conversations", id]);
  return (
    <Row
      rowKey={`conversation ${id}`}
      onOpen={() => router.go(address)}
      cells={[
        <Link key="title" to={address} class="row-link cut" focusKey={`conversation ${id}`}>
          <Text of={titleOf(conversation)} />
        </Link>,
        <span key="model" class="cut muted">
          <Text of={model} />
        </span>,
        String(turns),
        String(calls),
        <Age key="updated" since={Date.parse(updatedAt)} />,
      ]}
    />
  );
}

const pageSize = 500;

function Replay({ id }: { readonly id: string }): VNode {
  const { api } = useApp();
  const first = useCommand("conversations/show", { id, limit: pageSize });
  const [more, setMore] = useState<readonly Json[]>([]);
  const { value, error } = first;
  const events = value === undefined ? [] : [...value.events, ...more];
  const readMore = async (): Promise<void> => {
    const next = await api.run("conversations/show", { id, from: events.length, limit: pageSize });
    setMore([...more, ...next.events]);
  };
  const title = value === undefined ? id : titleOf(value.conversation);
  return (
    <View
      title={visibleText(title.slice(0, 80))}
      tools={
        <>
          <CopyCommand command={`fairlead --resume ${id}`} />
          <CopyCommand command={`fairlead conversations replay ${id}`} />
        </>
      }
    >
      {error !== undefined && <Failure error={error} onRetry={first.reload} />}
      {value === undefined && error === undefined && <Loading what="the conversation" />}
      {value !== undefined && (
        <>
          <p class="muted">
            {timeText(Date.parse(value.conversation.startedAt))}, <Text of={value.conversation.model} />,{" "}
            {counted(value.conversation.turns, "turn")}, {counted(value.conversation.calls, "call")}
          </p>
          <ol class="conversation">
            {entriesOf(events).map((entry, index) => (
              <li key={index}>
                <Entry entry={entry} />
              </li>
            ))}
          </ol>
          {events.length < value.total && (
            <Button onPress={() => readMore().catch((problem: unknown) => Promise.reject(toCommandError(problem)))}>
              Show {Math.min(pageSize, value.total - events.length)} more of {value.total - events.length} events
            </Button>
          )}
        </>
      )}
    </View>
  );
}

function Entry({ entry }: { readonly entry: ConversationEntry }): VNode {
  switch (entry.kind) {
    case "input":
      return (
        <section class="message message-user" aria-label="You">
          <h2>You</h2>
          <Text of={entry.text} lines most={20_000} />
        </section>
      );
    case "text":
      return (
        <section class="message" aria-label="Model">
          <h2>Model</h2>
          <Markdown text={entry.text} />
        </section>
      );
    case "thought":
      return (
        <details class="message muted">
          <summary>Thought</summary>
          <Text of={entry.text} lines most={20_000} />
        </details>
      );
    case "call":
      return <CallCard call={entry.call} />;
    case "note":
      return (
        <Notice kind={entry.isBad ? "bad" : "info"}>
          <Text of={entry.text} lines most={4000} />
        </Notice>
      );
  }
}

const callStates: Readonly<Record<string, State>> = {
  ok: { word: "ok", shape: "check", tone: "ok" },
  error: { word: "failed", shape: "cross", tone: "bad" },
  denied: { word: "denied", shape: "dash", tone: "bad" },
  cancelled: { word: "cancelled", shape: "dash", tone: "idle" },
};

/** A model's call, as its card in the terminal: what was called, why it was allowed, and what came back. */
function CallCard({ call }: { readonly call: Json }): VNode {
  const text = (name: string): string | undefined => {
    const value = call[name];
    return typeof value === "string" ? value : undefined;
  };
  const server = text("server");
  const tool = text("serverToolName") ?? text("name") ?? "";
  const error = asJson(call["error"]);
  const duration = call["durationMs"];
  const display = text("display");
  const rule = text("rule");
  return (
    <details class="call-card">
      <summary>
        <StateMark {...(callStates[text("status") ?? ""] ?? { word: "not ended", shape: "dash", tone: "idle" })} />
        <span class="cut mono">
          <Text of={server === undefined ? tool : `${server}.${tool}`} exact />
        </span>
        {typeof duration === "number" && <span class="muted">{tookText(duration)}</span>}
      </summary>
      {rule !== undefined && (
        <p class="muted">
          <Text of={rule} exact />
        </p>
      )}
      <JsonTree value={call["args"]} label="Arguments" isExact />
      {error !== undefined && (
        <Notice kind="bad">
          <Text of={typeof error["message"] === "string" ? error["message"] : "The call failed"} lines />
        </Notice>
      )}
      {display !== undefined && display !== "" && <Text of={display} lines most={20_000} class="code-block" />}
    </details>
  );
}
