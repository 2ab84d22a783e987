/** What the rules say about each tool of a server, before the arguments of a call are known. */

import { toShellWord } from "@fairlead/core/text/shell-word";
import type { VNode } from "preact";
import type { Result } from "../../../protocol/commands.ts";
import { useCommand } from "../../app.ts";
import { CopyCommand } from "../../components/copy.tsx";
import { Link } from "../../components/link.tsx";
import { Empty, Failure, Loading } from "../../components/notice.tsx";
import { type State, StateMark } from "../../components/state-mark.tsx";
import { type Column, Row, Table } from "../../components/table.tsx";
import { Text } from "../../components/text.tsx";
import { shortNumber } from "../../numbers.ts";
import { toAddress } from "../../router.ts";
import { useOutdated } from "./use-outdated.ts";

const columns: readonly Column[] = [
  { id: "decision", title: "Decision", width: "96px", card: "head" },
  { id: "tool", title: "Tool", width: "30%", card: "head" },
  { id: "description", title: "Description", card: "wide" },
  { id: "tokens", title: "Tokens", width: "64px", align: "end" },
];

/** The decision of a rule, as everywhere on the page. */
export const decisionStates: Readonly<Record<"allow" | "ask" | "deny", State>> = {
  allow: { word: "allow", shape: "check", tone: "ok" },
  ask: { word: "ask", shape: "question", tone: "warn" },
  deny: { word: "deny", shape: "dash", tone: "bad" },
};

export function ServerPolicy({
  name,
  detail,
}: {
  readonly name: string;
  readonly detail: Result<"servers/show"> | undefined;
}): VNode {
  const list = useCommand("tools/list", {});
  useOutdated(name, list.reload);
  if (list.error !== undefined) return <Failure error={list.error} onRetry={list.reload} />;
  if (list.value === undefined) return <Loading what="the decisions" />;
  const tools = list.value.tools.filter(({ server }) => server === name);
  return (
    <div class="server-policy">
      <p class="muted">
        What the rules say about a model's call of each tool. Arguments and the client can change a decision:{" "}
        <CopyCommand command={`fairlead policy explain ${toShellWord(name)}.TOOL`} />
      </p>
      {tools.length === 0 && (
        <Empty title={detail === undefined ? "No tool is known" : "No tool of this server is known"}>
          <p>Start the server to read its lists.</p>
        </Empty>
      )}
      {tools.length > 0 && (
        <Table label="Decisions about the tools of the server" columns={columns}>
          {tools.map(({ tool, decision, description, tokens, hidden }) => (
            <Row
              key={tool}
              cells={[
                <StateMark key="decision" {...decisionStates[decision]} />,
                <Link key="tool" to={toAddress(["tools", name, tool])} class="row-link cut">
                  <Text of={tool} exact />
                </Link>,
                <span key="description" class="cut muted">
                  <Text of={hidden === undefined ? description : `not offered: ${hidden}`} />
                </span>,
                shortNumber(tokens),
              ]}
            />
          ))}
        </Table>
      )}
    </div>
  );
}
