/** The messages between Fairlead and its servers, one line each: a request and its response are linked, bodies are read on demand. */

import { toShellWord } from "@fairlead/core/text/shell-word";
import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { FrameHead } from "../../../protocol/rows.ts";
import type { CommandError } from "../../api.ts";
import { toCommandError, useApp, useCommand, useRoute } from "../../app.ts";
import { clockText, timeText, tookText } from "../../components/age.tsx";
import { Button } from "../../components/button.tsx";
import { CopyButton, CopyCommand } from "../../components/copy.tsx";
import { FilterChips, SearchInput, Select } from "../../components/field.tsx";
import { JsonTree } from "../../components/json-tree.tsx";
import { Link } from "../../components/link.tsx";
import { memo } from "../../components/memo.tsx";
import { Empty, Failure, Loading } from "../../components/notice.tsx";
import { DetailPanel, Facts, SplitView, View } from "../../components/panel.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { Text } from "../../components/text.tsx";
import { VirtualList } from "../../components/virtual-list.tsx";
import { useLive } from "../../live.ts";
import { counted } from "../../numbers.ts";
import { toAddress } from "../../router.ts";
import { Frames, ShownFrames } from "./frames.ts";

type KindFilter = "all" | "requests" | "errors" | "notifications";

const rowHeight = 24;

const kinds: readonly { readonly value: KindFilter; readonly text: string }[] = [
  { value: "all", text: "All" },
  { value: "requests", text: "requests" },
  { value: "errors", text: "errors" },
  { value: "notifications", text: "notifications" },
];

export function TrafficView(): VNode {
  const { store, api, router, announcer } = useApp();
  const { query } = useRoute();
  const servers = useLive(store.servers.ids);
  const [frames] = useState(() => new Frames(store));
  const [error, setError] = useState<CommandError>();
  const [pausedAt, setPausedAt] = useState<number>();
  const [isFollowing, setFollowing] = useState(true);
  useLive(frames.revision);
  useEffect(() => frames.follow(api, (problem) => setError(toCommandError(problem))), [frames, api]);
  const server = query["server"] ?? "";
  const kind = kinds.find(({ value }) => value === query["kind"])?.value ?? "all";
  const words = (query["search"] ?? "").toLowerCase();
  const list = useMemo(
    () =>
      new ShownFrames(
        frames,
        (frame) =>
          (pausedAt === undefined || frame.id <= pausedAt) &&
          (server === "" || frame.server === server) &&
          isOfKind(frame, kind) &&
          (words === "" || wordsOf(frame).includes(words)),
      ),
    [frames, pausedAt, server, kind, words],
  );
  const shown = list.read();
  const chosen = frames.find(query["frame"] === undefined ? undefined : Number(query["frame"]));
  const waiting = pausedAt === undefined ? 0 : frames.countAfter(pausedAt);
  const save = async (): Promise<void> => {
    const { file, text } = await api.run("traffic/export", { server });
    saveFile(file, text);
    announcer.done(`Saved ${file}. To play it: fairlead serve-recording ${file}`);
  };
  return (
    <View title="Traffic" class="traffic-view" tools={<CopyCommand command={commandOf(chosen?.server ?? server)} />}>
      <div class="tools">
        <FilterChips<KindFilter>
          label="Kind of message"
          chips={kinds}
          value={kind}
          onChange={(value) => router.setQuery({ kind: value === "all" ? undefined : value })}
        />
        <Select
          label="Server"
          value={server}
          options={[{ value: "", text: "All servers" }, ...servers.map((name) => ({ value: name, text: name }))]}
          onChange={(value) => router.setQuery({ server: value || undefined })}
        />
        <SearchInput
          label="Search methods, names and ids"
          value={query["search"] ?? ""}
          onChange={(value) => router.setQuery({ search: value || undefined })}
        />
        <Button
          icon={pausedAt === undefined ? "pause" : "play"}
          isPressed={pausedAt !== undefined}
          onPress={() => setPausedAt(pausedAt === undefined ? (frames.all.at(-1)?.id ?? 0) : undefined)}
        >
          {pausedAt === undefined ? "Pause" : waiting === 0 ? "Continue" : `Continue (${waiting} new)`}
        </Button>
        <Button kind="quiet" onPress={() => frames.clear()}>
          Clear
        </Button>
        <Button
          kind="quiet"
          disabledBecause={server === "" ? "choose one server: a recording is of one server" : undefined}
          onPress={save}
        >
          Save as a recording
        </Button>
      </div>
      {error !== undefined && <Failure error={error} />}
      <SplitView
        panel={
          chosen && (
            <FramePanel
              key={chosen.id}
              frame={chosen}
              frames={frames}
              onClose={() => router.setQuery({ frame: undefined })}
            />
          )
        }
      >
        {shown.length === 0 ? (
          <Empty title={frames.all.length === 0 ? "No message yet" : "No message fits the filter"}>
            <p>Each message between Fairlead and a server that it has started or reached appears here.</p>
          </Empty>
        ) : (
          <>
            <div class="frame frame-titles" aria-hidden="true">
              {["Time", "Server", "", "Message", "Id", "Took", "Size"].map((title) => (
                <span key={title} class={`frame-title-${title.toLowerCase()}`}>
                  {title}
                </span>
              ))}
            </div>
            <VirtualList
              label="Messages, oldest first"
              class="traffic-list"
              role="log"
              count={shown.length}
              first={list.dropped}
              rowHeight={rowHeight}
              isFollowing={isFollowing && pausedAt === undefined}
              onFollow={setFollowing}
              renderRow={(index) => {
                const frame = shown[index];
                return frame === undefined ? null : <FrameLine frame={frame} isChosen={frame === chosen} />;
              }}
            />
            <p class="muted traffic-count">
              {counted(shown.length, "message")}
              {!isFollowing && pausedAt === undefined && (
                <Button kind="quiet" icon="down" onPress={() => setFollowing(true)}>
                  Follow the newest
                </Button>
              )}
            </p>
          </>
        )}
      </SplitView>
    </View>
  );
}

function wordsOf({ server, method = "", target = "", rpcId = "" }: FrameHead): string {
  return `${server} ${method} ${target} ${rpcId}`.toLowerCase();
}

/** The command that records messages: of one server as a program between it and a client, of all while they are listed. */
function commandOf(server: string): string {
  return server === "" ? "fairlead mcp list --record traffic" : `fairlead record ${toShellWord(server)}`;
}

function isOfKind(frame: FrameHead, filter: KindFilter): boolean {
  switch (filter) {
    case "all":
      return true;
    case "requests":
      return frame.kind !== "notification";
    case "errors":
      return frame.kind === "error";
    case "notifications":
      return frame.kind === "notification";
  }
}

const FrameLine = memo(({ frame, isChosen }: { readonly frame: FrameHead; readonly isChosen: boolean }): VNode => {
  const { query } = useRoute();
  const { id, at, server, direction, kind, method, target, rpcId, took, bytes } = frame;
  return (
    <Link
      to={toAddress(["traffic"], { ...query, frame: String(id) })}
      class={`frame frame-${kind} ${isChosen ? "frame-chosen" : ""}`}
      isCurrent={isChosen || undefined}
    >
      <span class="age">
        {clockText(at)}
        <span class="frame-ms">.{String(at % 1000).padStart(3, "0")}</span>
      </span>
      <span class="cut">
        <Text of={server} exact />
      </span>
      <span class="frame-arrow">
        <span aria-hidden="true">{direction === "out" ? "→" : "←"}</span>
        <span class="visually-hidden">{direction === "out" ? "to the server" : "from the server"}</span>
      </span>
      <span class="cut">
        {kind === "error" && <strong class="frame-word">error </strong>}
        {kind === "response" && <span class="visually-hidden">response </span>}
        <Text of={method ?? ""} exact />
        {target !== undefined && (
          <>
            {" "}
            <strong class="frame-target">
              <Text of={target} exact />
            </strong>
          </>
        )}
      </span>
      <span class="age frame-id">{rpcId === undefined ? "" : <Text of={String(rpcId)} exact />}</span>
      <span class="age">{took === undefined ? "" : tookText(took)}</span>
      <span class="age">{sizeText(bytes)}</span>
    </Link>
  );
});

function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} kB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

interface FramePanelProps {
  readonly frame: FrameHead;
  readonly frames: Frames;
  readonly onClose: () => void;
}

function FramePanel({ frame, frames, onClose }: FramePanelProps): VNode {
  const { query } = useRoute();
  const { id, at, server, direction, kind, method, target, rpcId, took, bytes, answers } = frame;
  const other = answers === undefined ? frames.answerTo(id) : frames.find(answers);
  return (
    <DetailPanel
      label="Message"
      title={<Text of={[method ?? kind, target].join(" ").trim()} exact />}
      onClose={onClose}
    >
      <Facts
        rows={[
          ["time", timeText(at)],
          ["server", <Text key="server" of={server} exact />],
          ["direction", direction === "out" ? "to the server" : "from the server"],
          ["kind", kind],
          rpcId === undefined ? undefined : ["id", <Text key="id" of={String(rpcId)} exact class="mono" />],
          took === undefined ? undefined : ["took", tookText(took)],
          ["size", `${bytes.toLocaleString("en")} bytes`],
          other === undefined
            ? undefined
            : [
                answers === undefined ? "response" : "request",
                <Link key="other" to={toAddress(["traffic"], { ...query, frame: String(other.id) })}>
                  {answers === undefined ? "show the response" : "show the request"}
                </Link>,
              ],
        ]}
      />
      <Body id={id} />
    </DetailPanel>
  );
}

/** Above this many characters, a message is shown as text: a tree of it would take long to build. */
const longBody = 1_000_000;

function Body({ id }: { readonly id: number }): VNode {
  const { value, error, reload } = useCommand("traffic/body", { id });
  const [tab, setTab] = useState("tree");
  if (error !== undefined) return <Failure error={error} onRetry={reload} />;
  if (value === undefined) return <Loading what="the message" />;
  const { text } = value;
  if (text === undefined) return <Empty title="The host no longer has this message" />;
  const parsed = text.length > longBody ? undefined : parsedJson(text);
  const isText = parsed === undefined || tab === "text";
  return (
    <Tabs
      label="Message"
      current={isText ? "text" : "tree"}
      onChange={setTab}
      tabs={[...(parsed === undefined ? [] : [{ id: "tree", title: "Tree" }]), { id: "text", title: "Text" }]}
    >
      {isText ? (
        <div class="block-text">
          <div class="block-tools">
            <CopyButton text={text} what="the message" />
          </div>
          <Text of={text} lines exact most={100_000} class="code-block" />
        </div>
      ) : (
        <JsonTree value={parsed} label="Message" openLevels={4} isExact />
      )}
    </Tabs>
  );
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
