/** Explains the decision about one request: every rule that matches it, and what the decision would be otherwise. */

import { toShellWord } from "@fairlead/core/text/shell-word";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { jsonValue } from "../../../form/draft.ts";
import type { Params } from "../../../protocol/commands.ts";
import { useApp, useCommand, useRoute } from "../../app.ts";
import { Button } from "../../components/button.tsx";
import { CopyCommand } from "../../components/copy.tsx";
import { Field } from "../../components/field.tsx";
import { Failure, Notice } from "../../components/notice.tsx";
import { Table } from "../../components/table.tsx";
import { Text } from "../../components/text.tsx";
import { useLive } from "../../live.ts";
import { asJson } from "../calls/content-block.tsx";
import { useOutdated } from "../servers/use-outdated.ts";
import { DecisionMark } from "../tools/decision-mark.tsx";
import { RuleLine, ruleColumns } from "./rule-line.tsx";

type Asked = Params<"policy/explain">;

export function ExplainBox(): VNode {
  const { store, router } = useApp();
  const { query } = useRoute();
  const servers = useLive(store.servers.ids);
  const [server, setServer] = useState(query["server"] ?? "");
  const [tool, setTool] = useState(query["tool"] ?? "");
  const [client, setClient] = useState(query["client"] ?? "");
  const [args, setArgs] = useState("");
  const [problem, setProblem] = useState<string>();
  const [given, setGiven] = useState<Asked["args"]>();
  const asked: Asked | undefined =
    query["server"] === undefined || query["tool"] === undefined
      ? undefined
      : {
          server: query["server"],
          tool: query["tool"],
          args: given,
          client: query["client"],
          who: query["client"] === undefined ? "model" : "client",
        };
  const explained = useCommand("policy/explain", asked);
  useOutdated(undefined, explained.reload);
  const explain = (): void => {
    const read = args.trim() === "" ? { value: undefined } : jsonValue(args);
    const value = typeof read === "string" ? undefined : read.value;
    const wrong = value === undefined || asJson(value) !== undefined ? undefined : "must be a JSON object";
    setProblem(typeof read === "string" ? read : wrong);
    if (typeof read === "string" || wrong !== undefined) return;
    setGiven(value as Asked["args"]);
    router.setQuery({ server: server || undefined, tool: tool || undefined, client: client || undefined });
  };
  const { value } = explained;
  return (
    <div class="explain">
      <form
        class="explain-form"
        aria-label="Explain a decision"
        onSubmit={(event) => {
          event.preventDefault();
          explain();
        }}
      >
        <Field label="Server">
          {(ids) => (
            <select
              {...ids}
              class="select"
              value={server}
              onChange={({ currentTarget }) => setServer(currentTarget.value)}
            >
              <option value="">choose…</option>
              {servers.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Tool">
          {(ids) => (
            <input
              {...ids}
              value={tool}
              autocomplete="off"
              spellcheck={false}
              onInput={({ currentTarget }) => setTool(currentTarget.value)}
            />
          )}
        </Field>
        <Field label="Client (empty: a model)">
          {(ids) => (
            <input
              {...ids}
              value={client}
              autocomplete="off"
              spellcheck={false}
              onInput={({ currentTarget }) => setClient(currentTarget.value)}
            />
          )}
        </Field>
        <Field label="Arguments as JSON (optional)" error={problem}>
          {(ids) => (
            <input
              {...ids}
              class="mono"
              value={args}
              autocomplete="off"
              spellcheck={false}
              onInput={({ currentTarget }) => setArgs(currentTarget.value)}
            />
          )}
        </Field>
        <Button type="submit" kind="primary" onPress={explain}>
          Explain
        </Button>
      </form>
      {explained.error !== undefined && asked !== undefined && <Failure error={explained.error} />}
      {value !== undefined && asked !== undefined && (
        <div class="explain-answer">
          <p class="decision-line">
            <DecisionMark decision={value.decision} isChanged={value.isChanged} />
            <span class="muted">
              because <Text of={value.because} exact />
            </span>
          </p>
          {value.trust !== undefined && (
            <Notice kind="info">
              <Text of={value.trust} lines />
            </Notice>
          )}
          {value.outdated !== undefined && (
            <Notice kind="warn">
              <Text of={value.outdated} lines />
            </Notice>
          )}
          {value.matching.length > 0 && (
            <Table label="Rules that match, strongest first" columns={ruleColumns}>
              {value.matching.map((rule) => (
                <RuleLine key={rule.id} rule={rule} isStatic />
              ))}
            </Table>
          )}
          {value.otherwise !== undefined && (
            <p class="muted">
              Without the deciding rule: <Text of={value.otherwise.text} exact />
            </p>
          )}
          <CopyCommand command={explainCommand(asked.server, asked.tool, asked.client)} />
        </div>
      )}
    </div>
  );
}

/** The command that explains the same request in a terminal. */
function explainCommand(server: string, tool: string, client: string | undefined): string {
  const subject = toShellWord(`${server}.${tool}`);
  return `fairlead policy explain ${subject}${client === undefined ? "" : ` --client ${toShellWord(client)}`}`;
}
