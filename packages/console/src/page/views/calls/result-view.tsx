/** The result of a call: what a person reads, its structured content, and the JSON as the server sent it. */

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Result } from "../../../protocol/commands.ts";
import type { CallRow } from "../../../protocol/rows.ts";
import { useCommand } from "../../app.ts";
import { CopyButton } from "../../components/copy.tsx";
import { JsonTree } from "../../components/json-tree.tsx";
import { Empty, Failure, Loading, NextLine, Notice } from "../../components/notice.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { Text } from "../../components/text.tsx";
import { useModule } from "../../components/use-module.ts";
import { CallTraffic } from "./call-traffic.tsx";
import { asJson, ContentBlock, type Json, ResourceContent } from "./content-block.tsx";

type Shown = Result<"calls/result">;

const loadViewTab = () => import("./view-tab.tsx");

export function ResultView({ call }: { readonly call: CallRow }): VNode {
  const { value, error, reload } = useCommand("calls/result", { call: call.id });
  const [chosen, setChosen] = useState<string>();
  const ViewTab = useModule(value?.view === undefined ? undefined : loadViewTab)?.ViewTab;
  const result = value?.result;
  const structured = result?.["structuredContent"];
  const tabs = [
    { id: "result", title: "Result" },
    ...(value?.view === undefined ? [] : [{ id: "view", title: "View" }]),
    ...(structured === undefined ? [] : [{ id: "structured", title: "Structured" }]),
    { id: "raw", title: "Raw" },
    { id: "traffic", title: "Traffic" },
  ];
  const usual = value?.view?.isAllowed === true ? "view" : "result";
  const current = tabs.find(({ id }) => id === chosen)?.id ?? usual;
  // A view that was once shown stays as it is behind the other tabs.
  const [hasView, setHasView] = useState(false);
  if (current === "view" && !hasView) setHasView(true);
  return (
    <div class="result">
      {call.error !== undefined && <CallFailure error={call.error} />}
      {error !== undefined && <Failure error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Loading what="the result" />}
      {value?.warnings.map((warning) => (
        <Notice key={warning} kind="warn">
          <Text of={warning} lines />
        </Notice>
      ))}
      {value !== undefined && (
        <Tabs label="Result" tabs={tabs} current={current} onChange={setChosen}>
          {hasView && ViewTab !== undefined && (
            <div hidden={current !== "view"}>
              <ViewTab call={call} />
            </div>
          )}
          {current === "result" && <Reading shown={value} call={call} />}
          {current === "structured" && <JsonTree value={structured} label="Structured content" openLevels={3} />}
          {current === "raw" && <Raw shown={value} />}
          {current === "traffic" && <CallTraffic call={call.id} />}
        </Tabs>
      )}
    </div>
  );
}

export function CallFailure({ error }: { readonly error: NonNullable<CallRow["error"]> }): VNode {
  return (
    <Notice kind="bad">
      <div>
        <code>{error.code}</code> <Text of={error.message} lines />
        {error.next !== undefined && <NextLine next={error.next} />}
      </div>
    </Notice>
  );
}

/** The blocks of a tool's result, the contents of a resource, or the messages of a prompt. */
function Reading({ shown: { result }, call }: { readonly shown: Shown; readonly call: CallRow }): VNode {
  if (result === undefined) return <Empty title="There is no result" />;
  const shared = { server: call.server, call: call.id };
  const messages = listIn(result, "messages");
  const contents = listIn(result, "contents");
  const content = listIn(result, "content");
  if (messages.length + contents.length + content.length === 0 && result["structuredContent"] !== undefined)
    return <JsonTree value={result["structuredContent"]} label="Structured content" openLevels={3} />;
  if (messages.length + contents.length + content.length === 0) return <Empty title="The result is empty" />;
  return (
    <div class="blocks">
      {result["isError"] === true && (
        <Notice kind="bad">
          <span>The tool reports an error.</span>
        </Notice>
      )}
      {content.map((block, index) => (
        <ContentBlock key={index} block={block} path={`/content/${index}`} {...shared} />
      ))}
      {contents.map((resource, index) => (
        <ResourceContent key={index} resource={resource} path={`/contents/${index}`} call={call.id} />
      ))}
      {messages.map((message, index) => (
        <section key={index} class="prompt-message" aria-label={`Message ${index + 1}`}>
          <h3>{message["role"] === "assistant" ? "assistant" : "user"}</h3>
          <ContentBlock block={asJson(message["content"]) ?? {}} path={`/messages/${index}/content`} {...shared} />
        </section>
      ))}
    </div>
  );
}

function listIn(result: Json, name: string): readonly Json[] {
  const value = result[name];
  return Array.isArray(value) ? value.flatMap((each: unknown): readonly Json[] => [asJson(each) ?? {}]) : [];
}

function Raw({ shown: { result } }: { readonly shown: Shown }): VNode {
  const text = result === undefined ? "" : JSON.stringify(result, undefined, 2);
  return (
    <div class="block-text">
      <div class="block-tools">
        <CopyButton text={text} what="the JSON" />
      </div>
      <Text of={text} lines exact most={100_000} class="code-block" />
    </div>
  );
}
