/** One server as one row, with its cause and its next step. The row draws itself when its server changes, and only then. */

import { toShellWord } from "@fairlead/core/text/shell-word";
import type { ComponentType, VNode } from "preact";
import type { NextStep, ServerRow } from "../../../protocol/rows.ts";
import { type App, useApp } from "../../app.ts";
import { Age, tookText } from "../../components/age.tsx";
import { Button } from "../../components/button.tsx";
import { Link } from "../../components/link.tsx";
import { memo } from "../../components/memo.tsx";
import { isNotFine, ServerStatus } from "../../components/state-mark.tsx";
import { type Column, Row } from "../../components/table.tsx";
import { Text, visibleText, withoutFolders } from "../../components/text.tsx";
import { useLive } from "../../live.ts";
import { counted, shortNumber } from "../../numbers.ts";
import { toAddress } from "../../router.ts";
import type { Selection } from "./selection.ts";

const common = {
  select: { id: "select", title: "Select", hasHiddenTitle: true, width: "24px", card: "head" },
  state: { id: "state", title: "State", width: "156px", card: "head" },
  server: { id: "server", title: "Server", width: "136px", card: "head" },
  since: { id: "since", title: "Since", width: "54px", align: "end" },
  next: { id: "next", title: "Next step", hasHiddenTitle: true, width: "82px", align: "end", card: "wide" },
} satisfies Readonly<Record<string, Column>>;

/** The columns of all servers. */
export const serverColumns: readonly Column[] = [
  common.select,
  common.state,
  common.server,
  common.since,
  { id: "catalog", title: "Catalog", width: "190px" },
  { id: "tokens", title: "Tokens", width: "60px", align: "end" },
  { id: "calls", title: "Calls 24 h", width: "76px", align: "end" },
  { id: "median", title: "Median", width: "68px", align: "end" },
  { id: "cause", title: "Cause, or last failure", card: "wide" },
  common.next,
];

/** The columns of what needs the person: the cause has the room that figures have for other servers. */
export const needColumns: readonly Column[] = [
  common.select,
  common.state,
  common.server,
  common.since,
  { id: "cause", title: "Cause", card: "wide" },
  common.next,
];

export interface ServerLineProps {
  readonly name: string;
  readonly isSelected: boolean;
  readonly onSelect: Selection["set"];
  /** Only the columns of `needColumns`. */
  readonly isShort?: boolean;
}

export const ServerLine: ComponentType<ServerLineProps> = memo(
  ({ name, isSelected, onSelect, isShort = false }: ServerLineProps): VNode | null => {
    const { store, router } = useApp();
    const row = useLive(store.servers.row(name));
    if (row === undefined) return null;
    const address = toAddress(["servers", name]);
    const figures = [
      <CatalogText key="catalog" row={row} />,
      shortNumber(row.tokens),
      shortNumber(row.calls),
      row.median === undefined ? <span class="unknown">–</span> : tookText(row.median),
    ];
    return (
      <Row
        rowKey={`server ${name}`}
        onOpen={() => router.go(address)}
        isSelected={isSelected || undefined}
        span={!isShort && isNotFine(row) ? { from: "catalog", to: "cause" } : undefined}
        cells={[
          <label key="select" class="check">
            <input
              type="checkbox"
              checked={isSelected}
              aria-label={`Select ${visibleText(name)}`}
              data-focus={`select ${name}`}
              onChange={({ currentTarget }) => onSelect(name, currentTarget.checked)}
            />
          </label>,
          <ServerStatus key="state" row={row} />,
          <Link key="server" to={address} class="row-link cut" focusKey={`server ${name}`}>
            <Text of={name} exact />
          </Link>,
          row.since === undefined ? null : <Age key="since" since={row.since} />,
          ...(isShort ? [] : figures),
          <Cause key="cause" row={row} />,
          row.next === undefined ? null : <NextButton key="next" name={name} next={row.next} />,
        ]}
      />
    );
  },
);

/** Why the server is not fine; for others the last failure of a call, if there was one. */
function Cause({ row }: { readonly row: ServerRow }): VNode | null {
  if (isNotFine(row) || row.cause !== undefined)
    return (
      <span class="cut" title={visibleText(row.cause ?? "", false, true)}>
        <Text of={row.cause === undefined ? "no cause is known" : withoutFolders(shortCause(row.name, row.cause))} />
      </span>
    );
  if (row.lastError === undefined) return null;
  return (
    <span class="cut muted" title="the last call that failed in 24 hours">
      <Text of={row.lastError.replaceAll("_", " ")} />
    </span>
  );
}

/**
 * The cause without the name of the server, which stands beside it, and without the words between an exit and the last
 * line of stderr: `"db" exited with code 3 during initialize; stderr: FATAL` is `exited with code 3: FATAL`.
 */
function shortCause(name: string, cause: string): string {
  const begin = [`"${name}"`, `server "${name}"`].find((words) => cause.startsWith(words));
  const rest = begin === undefined ? cause : cause.slice(begin.length).replace(/^ \([^)]*\)/, "");
  return rest.replace(/^:? /, "").replace(" during initialize; stderr: ", ": ");
}

export function CatalogText({ row: { counts, isCached } }: { readonly row: ServerRow }): VNode {
  if (counts === undefined) return <span class="unknown">–</span>;
  const others = [
    counts.resources + counts.resourceTemplates > 0 ? `${counts.resources + counts.resourceTemplates} res` : "",
    counts.prompts > 0 ? counted(counts.prompts, "prompt") : "",
  ].filter(Boolean);
  const all = [
    counted(counts.tools, "tool"),
    counted(counts.resources, "resource"),
    counted(counts.resourceTemplates, "resource template"),
    counted(counts.prompts, "prompt"),
  ].join(", ");
  return (
    <span class={`cut ${isCached ? "muted" : ""}`} title={isCached ? `${all}, from the catalog cache` : all}>
      {[counted(counts.tools, "tool"), ...others].join(", ")}
      {isCached && " (cached)"}
    </span>
  );
}

/** The one step that helps. A step with consequences leads to where they are shown; a step outside is copied. */
export function NextButton({ name, next }: { readonly name: string; readonly next: NextStep }): VNode | null {
  const app = useApp();
  const { action, shell, label } = next;
  const told = visibleText(name);
  const shared = { class: "button-row", label: `${label}: ${told}`, focusKey: `next ${name}` };
  if (action !== undefined)
    return (
      <Button {...shared} onPress={() => takeStep(app, action, name)}>
        {label}
      </Button>
    );
  if (shell === undefined)
    return (
      <Button {...shared} onPress={() => app.router.go(toAddress(["servers", name]))}>
        {label}
      </Button>
    );
  return (
    <Button
      {...shared}
      icon="copy"
      onPress={async () => {
        await navigator.clipboard.writeText(shell);
        app.announcer.done(`Copied: ${shell}`);
      }}
    >
      {label}
    </Button>
  );
}

type Action = NonNullable<NextStep["action"]>;

export async function takeStep({ api, router, announcer }: App, action: Action, name: string): Promise<void> {
  const told = visibleText(name);
  switch (action) {
    case "start":
      await api.run("servers/start", { servers: [name] });
      return announcer.say(`${told} starts`);
    case "restart":
      await api.run("servers/restart", { servers: [name] });
      return announcer.say(`${told} restarts`);
    case "signIn":
      await api.run("servers/signIn", { server: name });
      return announcer.done(`The sign-in to ${told} has begun: its address appears in the inbox`);
    case "enable":
      await api.run("servers/enable", { server: name, isEnabled: true });
      return announcer.done(`${told} is enabled`);
    // The person first sees what they would approve or accept.
    case "approve":
      return router.go(toAddress(["servers", name]));
    case "compare":
      return router.go(toAddress(["servers", name, "changes"]));
  }
}

/** The command that shows a server in a terminal. */
export function serverCommand(name: string): string {
  return `fairlead mcp get ${toShellWord(name)}`;
}
