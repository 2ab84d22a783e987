/** What the tools of each server cost a model in tokens, and which of them it gets directly. */

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Result } from "../../../protocol/commands.ts";
import { useCommand } from "../../app.ts";
import { Button } from "../../components/button.tsx";
import { CopyCommand } from "../../components/copy.tsx";
import { Link } from "../../components/link.tsx";
import { Empty, Failure, Loading } from "../../components/notice.tsx";
import { View } from "../../components/panel.tsx";
import { type Column, Row, Table } from "../../components/table.tsx";
import { Text } from "../../components/text.tsx";
import { counted, shortNumber } from "../../numbers.ts";
import { toAddress } from "../../router.ts";
import { useOutdated } from "../servers/use-outdated.ts";

type ServerBudget = Result<"budget/show">["servers"][number];

const columns: readonly Column[] = [
  { id: "name", title: "Server and tool", width: "30%", card: "head" },
  { id: "tokens", title: "Tokens", width: "80px", align: "end", card: "head" },
  { id: "bar", title: "Share", hasHiddenTitle: true, width: "24%", card: "none" },
  { id: "offered", title: "In each request to a model", card: "wide" },
];

export function BudgetView(): VNode {
  const budget = useCommand("budget/show", {});
  useOutdated(undefined, budget.reload);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const { value, error } = budget;
  const servers = [...(value?.servers ?? [])].sort((one, other) => other.total - one.total);
  const toggle = (name: string): void => {
    const next = new Set(opened);
    if (!next.delete(name)) next.add(name);
    setOpened(next);
  };
  return (
    <View title="Budget" tools={<CopyCommand command="fairlead tools --tokens" />}>
      {error !== undefined && <Failure error={error} onRetry={budget.reload} />}
      {value === undefined && error === undefined && <Loading what="the tokens" />}
      {value !== undefined && (
        <p>
          The definitions of all tools have about <strong>{shortNumber(value.total)} tokens</strong>.{" "}
          {value.offered === value.total ? (
            "A model gets all of them with each request."
          ) : (
            <>
              A model gets <strong>{shortNumber(value.offered)}</strong> of them with each request, and finds the other
              tools by search.
            </>
          )}
        </p>
      )}
      {value !== undefined && servers.length === 0 && <Empty title="No server has listed a tool yet" />}
      {servers.length > 0 && (
        <Table label="Tokens by server" columns={columns} class="budget-table">
          {servers.map((server) => [
            <ServerLine
              key={server.server}
              server={server}
              most={servers[0]?.total ?? 1}
              isOpen={opened.has(server.server)}
              onToggle={() => toggle(server.server)}
            />,
            ...(opened.has(server.server) ? server.tools : []).map(({ tool, tokens, isOffered, reason }) => (
              <Row
                key={`${server.server} ${tool}`}
                cells={[
                  <Link key="name" to={toAddress(["tools", server.server, tool])} class="row-link cut budget-tool">
                    <Text of={tool} exact />
                  </Link>,
                  shortNumber(tokens),
                  <Bar key="bar" value={tokens} most={servers[0]?.total ?? 1} />,
                  <span key="offered" class="cut muted">
                    {isOffered ? "yes" : "found by search"}: <Text of={reason} />
                  </span>,
                ]}
              />
            )),
          ])}
        </Table>
      )}
    </View>
  );
}

interface ServerLineProps {
  readonly server: ServerBudget;
  readonly most: number;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function ServerLine({ server, most, isOpen, onToggle }: ServerLineProps): VNode {
  const direct = server.tools.filter(({ isOffered }) => isOffered).length;
  return (
    <Row
      rowKey={`budget ${server.server}`}
      cells={[
        <Button
          key="name"
          kind="quiet"
          icon={isOpen ? "down" : "right"}
          isExpanded={isOpen}
          focusKey={`budget ${server.server}`}
          onPress={onToggle}
        >
          <Text of={server.server} exact />
        </Button>,
        shortNumber(server.total),
        <Bar key="bar" value={server.total} most={most} />,
        <span key="offered" class="cut muted">
          {direct === server.tools.length
            ? direct === 1
              ? "its one tool"
              : `all ${counted(direct, "tool")}`
            : `${direct} of ${counted(server.tools.length, "tool")}, ${shortNumber(server.offered)} tokens`}
        </span>,
      ]}
    />
  );
}

/** The number stands beside it, so a screen reader does not need the bar. */
function Bar({ value, most }: { readonly value: number; readonly most: number }): VNode {
  return (
    <span class="bar" aria-hidden="true">
      <span style={{ width: `${Math.max(1, Math.round((100 * value) / Math.max(1, most)))}%` }} />
    </span>
  );
}
