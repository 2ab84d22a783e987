/** Conversations with a model: the recorded ones, and one of them to read and to continue. */

import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import type { ConversationRow } from "../../../protocol/conversations.ts";
import { useApp, useCommand, useRoute } from "../../app.ts";
import { Age } from "../../components/age.tsx";
import { CopyCommand } from "../../components/copy.tsx";
import { FilterChips } from "../../components/field.tsx";
import { Link } from "../../components/link.tsx";
import { Empty, Failure, Loading } from "../../components/notice.tsx";
import { View } from "../../components/panel.tsx";
import { type Column, Row, Table } from "../../components/table.tsx";
import { Text } from "../../components/text.tsx";
import { toAddress, type ViewAddress } from "../../router.ts";
import { ConversationView } from "./conversation-view.tsx";

const columns: readonly Column[] = [
  { id: "title", title: "Conversation", card: "head" },
  { id: "model", title: "Model", width: "20%" },
  { id: "turns", title: "Turns", width: "64px", align: "end" },
  { id: "calls", title: "Calls", width: "64px", align: "end" },
  { id: "updated", title: "Last", width: "90px", align: "end" },
];

/** The address of a conversation that begins with its first message. */
const newAddress = toAddress(["conversations", "new"]);

export function ConversationsView({ path: [id] }: ViewAddress): VNode {
  // The first message gives a new conversation its address. The page stays the same, with the focus where it was.
  const begun = useRef<string>(undefined);
  if (id === undefined) return <ConversationList />;
  const isNew = id === "new" || id === begun.current;
  return (
    <ConversationView
      key={isNew ? "new" : id}
      id={id === "new" ? undefined : id}
      onBegun={(started) => {
        begun.current = started;
      }}
    />
  );
}

function ConversationList(): VNode {
  const { router } = useApp();
  const { query } = useRoute();
  const all = query["all"] === "true";
  const { value, error, reload } = useCommand("conversations/list", { limit: 200, all });
  return (
    <View
      title="Conversations"
      tools={
        <>
          <Link to={newAddress} class="button button-primary">
            New conversation
          </Link>
          <CopyCommand command="fairlead conversations" />
        </>
      }
    >
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
            <Link to={newAddress}>Begin one here</Link>, or in a terminal: <CopyCommand command="fairlead" />
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
