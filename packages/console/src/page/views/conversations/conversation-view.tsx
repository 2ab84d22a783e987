/** A conversation with a model: what was said, the cards of calls with their questions, and the box for the next message. */

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Result } from "../../../protocol/commands.ts";
import type { Question } from "../../../protocol/rows.ts";
import { CommandError } from "../../api.ts";
import { useApp, useCommand } from "../../app.ts";
import { timeText } from "../../components/age.tsx";
import { Button } from "../../components/button.tsx";
import { CopyCommand } from "../../components/copy.tsx";
import { Link } from "../../components/link.tsx";
import { Failure, Loading, NextLine, Notice } from "../../components/notice.tsx";
import { View } from "../../components/panel.tsx";
import { Text, visibleText } from "../../components/text.tsx";
import { type Live, useLive, useRows } from "../../live.ts";
import { counted } from "../../numbers.ts";
import { toAddress } from "../../router.ts";
import { Composer } from "./composer.tsx";
import { Entry } from "./entry.tsx";
import type { ConversationEntry, Transcript } from "./transcript.ts";
import { useFollow } from "./use-follow.ts";
import { useTranscript } from "./use-transcript.ts";

const firstShown = 500;

export interface ConversationViewProps {
  /** Undefined: a conversation that begins with the first message. */
  readonly id: string | undefined;
  /** Called with the id of the conversation that the first message has begun. */
  readonly onBegun: (id: string) => void;
}

export function ConversationView({ id, onBegun }: ConversationViewProps): VNode {
  const { api, router } = useApp();
  const [limit, setLimit] = useState(firstShown);
  const { transcript, shown } = useTranscript(id, limit);
  // While more is read, what was read before stays.
  const latest = useRef<Result<"chat/show">>(undefined);
  if (shown.value !== undefined) latest.current = shown.value;
  const value = id === undefined ? undefined : latest.current;
  const isRunning = useLive(transcript.isRunning);
  const [wanted, setWanted] = useState("");
  const list = useRef<HTMLOListElement>(null);
  const { isFollowing, followAgain } = useFollow(list, value === undefined || value.isOpen);
  const isEmpty = useLive(transcript.entries.ids).length === 0;
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // A person who begins a conversation wants to write.
    if (id === undefined) box.current?.focus({ preventScroll: true });
  }, [id]);

  const send = async (text: string): Promise<void> => {
    const model = wanted.trim() === "" ? undefined : wanted.trim();
    const open = async (): Promise<string> => (await api.run("chat/open", { resume: id, model })).conversation;
    const conversation = id !== undefined && value?.isOpen === true ? id : await open();
    await api.run("chat/send", { conversation, text }).catch(async (error: unknown) => {
      // The console has closed it meanwhile, in favour of others.
      if (!(error instanceof CommandError) || error.code !== "not_found") throw error;
      await api.run("chat/send", { conversation: await open(), text });
    });
    followAgain();
    if (id !== undefined) {
      if (value?.isOpen !== true) shown.reload();
      return;
    }
    onBegun(conversation);
    router.go(toAddress(["conversations", conversation]));
  };

  const stop = (): Promise<unknown> => api.run("chat/stop", { conversation: id ?? "" });
  return (
    <View
      class="conversation-view"
      title={titleOf(id, value, transcript)}
      heading={
        <>
          <Link to={toAddress(["conversations"])} class="muted">
            Conversations
          </Link>
          <span class="muted"> / </span>
          {titleOf(id, value, transcript)}
        </>
      }
      tools={
        <>
          {id !== undefined && (
            <Link to={toAddress(["conversations", "new"])} class="button">
              New conversation
            </Link>
          )}
          <CopyCommand command={id === undefined ? "fairlead" : `fairlead --resume ${id}`} />
        </>
      }
    >
      {id === undefined ? <ModelLine wanted={wanted} onWanted={setWanted} /> : <Facts value={value} />}
      {shown.error !== undefined && <Failure error={shown.error} onRetry={shown.reload} />}
      {id !== undefined && value === undefined && shown.error === undefined && <Loading what="the conversation" />}
      {value !== undefined && value.earlier > 0 && (
        <Button onPress={() => setLimit(limit * 4)}>Show earlier messages ({counted(value.earlier, "event")})</Button>
      )}
      <ol class="conversation" ref={list} aria-label="Messages">
        {id === undefined && (
          <li class="muted">Calls of the model follow your rules. If a rule asks, the question appears here.</li>
        )}
        <Entries transcript={transcript} />
      </ol>
      <div class="conversation-foot">
        {isRunning && <Working transcript={transcript} />}
        {!isFollowing && !isEmpty && (
          <Button class="conversation-latest" onPress={followAgain}>
            Go to the latest message
          </Button>
        )}
        {shown.error === undefined && <Composer box={box} isRunning={isRunning} onSend={send} onStop={stop} />}
      </div>
    </View>
  );
}

function titleOf(id: string | undefined, value: Result<"chat/show"> | undefined, transcript: Transcript): string {
  if (id === undefined) return "New conversation";
  const said = transcript.entries.all().find(({ kind }) => kind === "input");
  const words = value?.title ?? value?.recorded?.firstWords ?? (said?.kind === "input" ? said.text : "");
  return words === "" ? "Conversation" : visibleText(words.slice(0, 80));
}

function Entries({ transcript: { entries } }: { readonly transcript: Transcript }): VNode {
  const ids = useLive(entries.ids);
  return (
    <>
      {ids.map((id) => (
        <li key={id}>
          <Entry cell={entries.row(id)} />
        </li>
      ))}
    </>
  );
}

function Facts({ value }: { readonly value: Result<"chat/show"> | undefined }): VNode | null {
  if (value === undefined) return null;
  const { recorded, model, isOpen } = value;
  return (
    <p class="muted">
      {recorded !== undefined && `${timeText(Date.parse(recorded.startedAt))}, `}
      <Text of={model} exact />
      {recorded !== undefined && !isOpen && `, ${counted(recorded.turns, "turn")}, ${counted(recorded.calls, "call")}`}
    </p>
  );
}

interface ModelLineProps {
  readonly wanted: string;
  readonly onWanted: (name: string) => void;
}

/** The model that will answer; without one, what to do. */
function ModelLine({ wanted, onWanted }: ModelLineProps): VNode {
  const { value, error, reload } = useCommand("chat/model", {});
  if (error !== undefined)
    return (
      <Notice kind="warn">
        <div class="no-model">
          <p>
            <Text of={error.message} lines />
          </p>
          {error.next !== undefined && <NextLine next={error.next} />}
          <p class="block-line">
            Or store a key: <CopyCommand command="fairlead secret set GEMINI_API_KEY" />
          </p>
          <p>
            Without a model you can call tools yourself, with a form: <Link to={toAddress(["tools"])}>Tools</Link>
          </p>
        </div>
        <Button onPress={reload}>Try again</Button>
      </Notice>
    );
  return (
    <label class="block-line model-line">
      <span class="muted">Model</span>
      <input
        type="text"
        autocomplete="off"
        spellcheck={false}
        placeholder={value === undefined ? "looking for the configured model…" : visibleText(value.model, false, true)}
        value={wanted}
        onInput={(event) => onWanted(event.currentTarget.value)}
      />
    </label>
  );
}

/** What the turn does now. If a call waits for an answer, leads to its question. */
function Working({ transcript }: { readonly transcript: Transcript }): VNode {
  const { store } = useApp();
  const ids = useLive(transcript.entries.ids);
  const questions = useRows(store.questions);
  // Only the calls of the last answer can wait.
  const latest = ids.slice(-50);
  const cell = latest.map((id) => transcript.entries.row(id)).find((each) => isAskedIn(each, questions));
  const isAsked = cell !== undefined;
  return (
    <p class="block-line working">
      {isAsked ? (
        <>
          <strong>A call waits for your answer.</strong>
          <Button onPress={goToQuestion}>Go to the question</Button>
        </>
      ) : (
        <span class="muted">The model is working…</span>
      )}
    </p>
  );
}

function isAskedIn(cell: Live<ConversationEntry | undefined>, questions: readonly Question[]): boolean {
  const entry = cell.value;
  if (entry?.kind !== "call") return false;
  const { row } = entry.call;
  return row !== undefined && questions.some(({ call }) => call === row);
}

function goToQuestion(): void {
  const card = document.querySelector<HTMLElement>(".conversation .question-card");
  card?.scrollIntoView({ block: "center" });
  card?.querySelector<HTMLElement>("button, input")?.focus({ preventScroll: true });
}
