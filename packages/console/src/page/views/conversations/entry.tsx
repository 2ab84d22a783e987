/** One entry of a conversation: a message, a call with its card as in the terminal, or a note. */

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { CallRow } from "../../../protocol/rows.ts";
import { useApp } from "../../app.ts";
import { tookText } from "../../components/age.tsx";
import { JsonTree } from "../../components/json-tree.tsx";
import { Markdown } from "../../components/markdown.tsx";
import { NextLine, Notice } from "../../components/notice.tsx";
import { Facts } from "../../components/panel.tsx";
import { type State, StateMark } from "../../components/state-mark.tsx";
import { Text } from "../../components/text.tsx";
import { type Live, useLive } from "../../live.ts";
import { counted } from "../../numbers.ts";
import { asJson, type Json } from "../calls/content-block.tsx";
import { CallFailure, ResultView } from "../calls/result-view.tsx";
import { RunningCall } from "../calls/running-call.tsx";
import type { ConversationEntry, MissingServer } from "./transcript.ts";

export function Entry({ cell }: { readonly cell: Live<ConversationEntry | undefined> }): VNode | null {
  const entry = useLive(cell);
  switch (entry?.kind) {
    case undefined:
      return null;
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
    case "missing":
      return <MissingServers servers={entry.servers} />;
    case "note":
      return (
        <Notice kind={entry.isBad ? "bad" : "info"}>
          <div>
            <Text of={entry.text} lines most={4000} />
            {entry.next !== undefined && <NextLine next={entry.next} />}
          </div>
        </Notice>
      );
  }
}

/** Which servers the model does without, in one line; why, in the lines below it. */
function MissingServers({ servers }: { readonly servers: readonly MissingServer[] }): VNode {
  return (
    <details class="call-card">
      <summary>
        <span class="cut muted">
          without {counted(servers.length, "server")}: <Text of={servers.map(({ name }) => name).join(", ")} exact />
        </span>
      </summary>
      <ul class="missing-servers">
        {servers.map(({ name, message, next }) => (
          <li key={name}>
            <Text of={message} lines most={4000} />
            {next !== undefined && <NextLine next={next} />}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The states of `CallStatus` of core. */
const callStates: Readonly<Record<string, State>> = {
  requested: { word: "requested", shape: "half", tone: "busy" },
  asking: { word: "waits for you", shape: "question", tone: "warn" },
  queued: { word: "queued", shape: "half", tone: "busy" },
  running: { word: "running", shape: "half", tone: "busy" },
  ok: { word: "ok", shape: "check", tone: "ok" },
  error: { word: "failed", shape: "cross", tone: "bad" },
  denied: { word: "denied", shape: "dash", tone: "bad" },
  cancelled: { word: "cancelled", shape: "dash", tone: "idle" },
};

/** A model's call: what is called with which arguments, which rule decides, how it goes on, and what comes back. */
function CallCard({ call }: { readonly call: Json }): VNode {
  const { store } = useApp();
  const row = useLive(store.calls.row(textIn(call, "row") ?? ""));
  const status = textIn(call, "status") ?? "";
  const state = callStates[status] ?? { word: "not ended", shape: "dash", tone: "idle" };
  // A call that goes well needs no look.
  const [chosen, setOpen] = useState<boolean>();
  const isOpen = chosen ?? (status === "asking" || status === "denied" || status === "error");
  const server = textIn(call, "server");
  const tool = textIn(call, "serverToolName") ?? textIn(call, "name") ?? "";
  const name = server === undefined ? tool : `${server}.${tool}`;
  const duration = call["durationMs"];
  const rule = textIn(call, "rule");
  return (
    <details class="call-card" open={isOpen}>
      <summary
        onClick={(event) => {
          event.preventDefault();
          setOpen(!isOpen);
        }}
      >
        <StateMark {...state} />
        <span class="cut mono">
          <Text of={name} exact />
        </span>
        {typeof duration === "number" && <span class="muted">{tookText(duration)}</span>}
        <SmallProgress row={row} />
      </summary>
      {isOpen && (
        <div class="call-card-body">
          {rule !== undefined && status !== "asking" && (
            <Facts rows={[["rule", <Text key="rule" of={rule} exact />]]} />
          )}
          {status !== "asking" && <Arguments value={call["args"]} />}
          <Outcome call={call} row={row} isRunning={state.tone === "busy" || status === "asking"} />
        </div>
      )}
    </details>
  );
}

function Arguments({ value }: { readonly value: unknown }): VNode {
  if (Object.keys(asJson(value) ?? {}).length === 0) return <p class="muted">No arguments</p>;
  return <JsonTree value={value} label="Arguments" openLevels={2} isExact />;
}

function SmallProgress({ row }: { readonly row: CallRow | undefined }): VNode | null {
  if (row?.progress === undefined || row.endedAt !== undefined) return null;
  return <progress value={row.progress.progress} max={row.progress.total} aria-label="Progress" />;
}

interface OutcomeProps {
  readonly call: Json;
  /** Undefined for a call that went to no server, and for one of an earlier day. */
  readonly row: CallRow | undefined;
  readonly isRunning: boolean;
}

/** While the console has the call's result it is shown in full, otherwise as the recording has it. */
function Outcome({ call, row, isRunning }: OutcomeProps): VNode | null {
  if (row !== undefined && row.endedAt === undefined) return <RunningCall row={row} />;
  if (isRunning) return null;
  if (row !== undefined && row.state !== "denied" && row.state !== "cancelled")
    return <ResultView key={row.id} call={row} />;
  const error = asJson(call["error"]);
  const display = textIn(call, "display");
  return (
    <>
      {error !== undefined && (
        <CallFailure
          error={{
            code: textIn(error, "code") ?? "error",
            message: textIn(error, "message") ?? "The call failed",
            ...(textIn(error, "next") !== undefined && { next: textIn(error, "next") ?? "" }),
          }}
        />
      )}
      {display !== undefined && display !== "" && <Text of={display} lines most={20_000} class="code-block" />}
    </>
  );
}

function textIn(object: Json, name: string): string | undefined {
  const value = object[name];
  return typeof value === "string" ? value : undefined;
}
