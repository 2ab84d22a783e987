/** One tool: its form and the same values as JSON, what the rules say about the call, and the call with its result. */

import { toShellWord } from "@fairlead/core/text/shell-word";
import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { type Draft, draftOf, draftValue, emptyDraft, jsonValue } from "../../../form/draft.ts";
import { type NestedInput, nestedInputOf } from "../../../form/nested-input.ts";
import type { Params, Result } from "../../../protocol/commands.ts";
import { useApp, useCommand, useRoute } from "../../app.ts";
import { Button } from "../../components/button.tsx";
import { CopyCommand } from "../../components/copy.tsx";
import { Differences } from "../../components/differences.tsx";
import { JsonTree } from "../../components/json-tree.tsx";
import { Link } from "../../components/link.tsx";
import { Failure, Loading, Notice } from "../../components/notice.tsx";
import { View } from "../../components/panel.tsx";
import { SchemaForm } from "../../components/schema-form.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { Text, visibleText, withoutFolders } from "../../components/text.tsx";
import { useLive } from "../../live.ts";
import { toAddress } from "../../router.ts";
import { CallPanel } from "../calls/call-panel.tsx";
import { asJson } from "../calls/content-block.tsx";
import { useCall } from "../calls/use-call.ts";
import { NextButton } from "../servers/server-line.tsx";
import { useOutdated } from "../servers/use-outdated.ts";
import { DecisionMark } from "./decision-mark.tsx";

type Shown = Result<"tools/show">;
type Arguments = Params<"calls/tool">["args"];

export interface ToolViewProps {
  readonly server: string;
  readonly name: string;
}

export function ToolView({ server, name }: ToolViewProps): VNode {
  const { store } = useApp();
  const row = useLive(store.servers.row(server));
  const shown = useCommand("tools/show", { server, tool: name });
  useOutdated(server, shown.reload);
  const heading = (
    <>
      <Link to={toAddress(["tools"])} class="muted">
        Tools
      </Link>
      <span class="muted"> / </span>
      <Link to={toAddress(["tools", server])} class="muted">
        <Text of={server} exact />
      </Link>
      .<Text of={name} exact />
    </>
  );
  return (
    <View title={`${visibleText(name)} – Tools`} heading={heading}>
      {shown.error !== undefined && <Failure error={shown.error} onRetry={shown.reload} />}
      {shown.error !== undefined && row?.next !== undefined && (
        <div class="tools">
          <NextButton name={server} next={row.next} />
        </div>
      )}
      {shown.value === undefined && shown.error === undefined && <Loading what="the tool" />}
      {shown.value !== undefined && <ToolPage shown={shown.value} />}
    </View>
  );
}

/** The draft of the form, and the JSON text beside it: each follows the other. */
interface Entered {
  readonly draft: Draft;
  /** The JSON text while the person edits it. */
  readonly text?: string | undefined;
}

function ToolPage({ shown }: { readonly shown: Shown }): VNode {
  const { tool, inputSchema, change } = shown;
  const { server, tool: name } = tool;
  const { api, router } = useApp();
  const { query } = useRoute();
  const input = useMemo(() => nestedInputOf(inputSchema), [inputSchema]);
  const [entered, setEntered] = useState<Entered>(() => ({ draft: firstDraft(input, query["args"]) }));
  const [tab, setTab] = useState("form");
  const [isChecked, setChecked] = useState(false);
  const call = useCall();
  const { value, problems } = draftValue(input, entered.draft);
  const badText = entered.text === undefined ? undefined : textProblem(entered.text);
  const args = (asJson(value) ?? {}) as Arguments;
  const decision = useDecision(server, name, args);
  const found = new Map([...(decision.value?.problems ?? []).map(toEntry), ...problems]);
  const canSend = problems.size === 0 && badText === undefined;
  const run = async (): Promise<void> => {
    setChecked(true);
    if (!canSend) return focusFirstProblem();
    await call.begin((id) => api.run("calls/tool", { call: id, server, tool: name, args }));
    const kept = JSON.stringify(args);
    // A secret never enters the address.
    router.setQuery({ args: kept.length > longestAddress || hasSecret(input, args) ? undefined : kept });
  };
  return (
    <div class="tool-page">
      <form
        class="tool-form"
        aria-label="Call the tool"
        onSubmit={(event) => event.preventDefault()}
        onKeyDown={(event) => {
          // Enter alone belongs to the inputs.
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          event.currentTarget.querySelector<HTMLButtonElement>(".button-primary")?.click();
        }}
      >
        {tool.title !== undefined && tool.title !== name && (
          <p>
            <strong>
              <Text of={tool.title} exact />
            </strong>
          </p>
        )}
        {tool.description !== "" && (
          <p class="tool-description">
            <Text of={tool.description} lines most={800} />
          </p>
        )}
        {change !== undefined && change.length > 0 && (
          <Notice kind="warn">
            <div>
              <p>
                <strong>The definition has changed</strong> since you accepted it.{" "}
                <Link to={toAddress(["servers", server, "changes"])}>Compare and accept</Link>
              </p>
              <Differences list={change} />
            </div>
          </Notice>
        )}
        <Tabs
          label="Arguments"
          current={tab}
          onChange={setTab}
          tabs={[
            { id: "form", title: "Form" },
            { id: "json", title: "JSON" },
            { id: "schema", title: "Schema" },
          ]}
        >
          {tab === "form" && (
            <SchemaForm
              input={input}
              draft={entered.draft}
              onChange={(draft) => setEntered({ draft })}
              problems={isChecked ? found : new Map(decision.value?.problems.filter(isShownEarly).map(toEntry))}
            />
          )}
          {tab === "json" && (
            <JsonArguments
              text={entered.text ?? JSON.stringify(value ?? {}, undefined, 2)}
              problem={badText}
              onChange={(text) => {
                const read = jsonValue(text);
                setEntered({ text, draft: typeof read === "string" ? entered.draft : draftOf(input, read.value) });
              }}
            />
          )}
          {tab === "schema" && (
            <>
              <h3>Arguments</h3>
              <JsonTree value={inputSchema} label="Schema of the arguments" openLevels={3} />
              {shown.outputSchema !== undefined && (
                <>
                  <h3>Structured result</h3>
                  <JsonTree value={shown.outputSchema} label="Schema of the result" openLevels={3} />
                </>
              )}
            </>
          )}
        </Tabs>
        {isChecked && tab !== "form" && <ProblemList problems={found} />}
        <DecisionText decision={decision.value} />
        <div class="tools">
          <Button kind="primary" icon="play" onPress={run}>
            Call
          </Button>
          <CopyCommand command={callCommand(server, name, args)} />
        </div>
      </form>
      <section class="tool-result" aria-label="Result">
        <CallPanel call={call} />
      </section>
    </div>
  );
}

/** Longer arguments are left out of the address. */
const longestAddress = 2000;

function firstDraft(input: NestedInput, given: string | undefined): Draft {
  const read = given === undefined ? undefined : jsonValue(given);
  return read === undefined || typeof read === "string" ? emptyDraft(input) : draftOf(input, read.value);
}

function textProblem(text: string): string | undefined {
  const read = jsonValue(text === "" ? "{}" : text);
  if (typeof read === "string") return read;
  return asJson(read.value) === undefined ? "must be a JSON object" : undefined;
}

function toEntry({ pointer, message }: { readonly pointer: string; readonly message: string }): [string, string] {
  return [pointer, message];
}

/** While the person still enters values, what is missing is no mistake yet. */
function isShownEarly({ message }: { readonly message: string }): boolean {
  return !/required|missing/i.test(message);
}

function hasSecret(input: NestedInput, args: Arguments): boolean {
  return input.kind === "object"
    ? input.fields.some(({ name, isSecret }) => isSecret && Object.hasOwn(args, name))
    : Object.keys(args).length > 0 && input.kind === "variant";
}

function focusFirstProblem(): void {
  requestAnimationFrame(() => {
    const field = document.querySelector<HTMLElement>(".tool-form [aria-invalid=true], .tool-form .field-error");
    field?.focus();
  });
}

/** What the rules say, read again when the arguments have settled. */
function useDecision(server: string, tool: string, args: Arguments) {
  const [settled, setSettled] = useState(args);
  const key = JSON.stringify(args);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(args), decisionPause);
    return () => clearTimeout(timer);
    // The arguments are compared by what they contain.
  }, [key]);
  const decision = useCommand("tools/decide", { server, tool, args: settled });
  useOutdated(server, decision.reload);
  return decision;
}

const decisionPause = 250;

function DecisionText({ decision }: { readonly decision: Result<"tools/decide"> | undefined }): VNode {
  if (decision === undefined) return <p class="decision-line muted">Reading the rules…</p>;
  const { because, ruleAt } = decision;
  return (
    <p class="decision-line" title={visibleText([because, ruleAt ?? ""].join(" ").trim(), false, true)}>
      <DecisionMark decision={decision.decision} />
      <span class="muted">
        {because !== "" && (
          <>
            because <Text of={withoutFolders(because)} exact />
          </>
        )}
        {ruleAt !== undefined && !because.includes(ruleAt) && (
          <>
            {" "}
            (<Text of={withoutFolders(ruleAt)} exact class="mono" />)
          </>
        )}
      </span>
    </p>
  );
}

interface JsonArgumentsProps {
  readonly text: string;
  readonly problem: string | undefined;
  readonly onChange: (text: string) => void;
}

function JsonArguments({ text, problem, onChange }: JsonArgumentsProps): VNode {
  return (
    <div class={`field ${problem === undefined ? "" : "field-wrong"}`}>
      <textarea
        class="mono json-arguments"
        aria-label="Arguments as JSON"
        aria-invalid={problem === undefined ? undefined : true}
        rows={12}
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {problem !== undefined && (
        <div class="field-error" role="status">
          The text <Text of={problem} />
        </div>
      )}
    </div>
  );
}

function ProblemList({ problems }: { readonly problems: ReadonlyMap<string, string> }): VNode | null {
  if (problems.size === 0) return null;
  return (
    <ul class="problem-list">
      {[...problems].map(([pointer, message]) => (
        <li key={pointer}>
          <Text of={pointer === "" ? "The arguments" : pointer} exact class="mono" /> <Text of={message} />
        </li>
      ))}
    </ul>
  );
}

/** The command that makes the same call in a terminal. */
function callCommand(server: string, tool: string, args: Arguments): string {
  const target = toShellWord(`${server}.${tool}`);
  const json = JSON.stringify(args);
  return json === "{}" ? `fairlead call ${target}` : `fairlead call ${target} --args ${toShellWord(json)}`;
}
