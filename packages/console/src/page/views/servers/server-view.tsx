/** One server in full: why it is in its state, where and how it is defined, its log, and what can be done with it. */

import type { ComponentChildren, VNode } from "preact";
import type { Result } from "../../../protocol/commands.ts";
import type { ServerRow } from "../../../protocol/rows.ts";
import { type Loaded, useApp, useCommand } from "../../app.ts";
import { Age, Countdown } from "../../components/age.tsx";
import { Button } from "../../components/button.tsx";
import { CopyButton, CopyCommand } from "../../components/copy.tsx";
import { AllowButton, Decision } from "../../components/decision.tsx";
import { Link } from "../../components/link.tsx";
import { Empty, Failure, Loading, NextLine, Notice } from "../../components/notice.tsx";
import { Facts, Section, View } from "../../components/panel.tsx";
import { groupOf, isNotFine, ServerStatus } from "../../components/state-mark.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { Text } from "../../components/text.tsx";
import { useLive } from "../../live.ts";
import { counted, shortNumber } from "../../numbers.ts";
import { toAddress } from "../../router.ts";
import { ServerChanges } from "./server-changes.tsx";
import { NextButton, serverCommand } from "./server-line.tsx";
import { ServerLog } from "./server-log.tsx";
import { ServerPolicy } from "./server-policy.tsx";
import { ServerSandbox } from "./server-sandbox.tsx";
import { ServerTest } from "./server-test.tsx";
import { useOutdated } from "./use-outdated.ts";

type Detail = Result<"servers/show">;

const tabTitles = { definition: "Definition", log: "Log", policy: "Policy", changes: "Changes", test: "Test" } as const;
type TabId = keyof typeof tabTitles;

export function ServerView({ name, tab }: { readonly name: string; readonly tab: string | undefined }): VNode {
  const { store, router } = useApp();
  const about = useLive(store.about);
  const row = useLive(store.servers.row(name));
  const detail = useCommand("servers/show", row === undefined ? undefined : { server: name });
  useOutdated(name, detail.reload);
  const heading = (
    <>
      <Link to={toAddress(["servers"])} class="muted">
        Servers
      </Link>
      <span class="muted"> / </span>
      <Text of={name} exact />
    </>
  );
  if (row === undefined)
    return (
      <View title={name} heading={heading}>
        {about !== undefined && (
          <Empty title="There is no server of this name">
            <Link to={toAddress(["servers"])}>All servers</Link>
          </Empty>
        )}
      </View>
    );
  const current = tab !== undefined && tab in tabTitles ? (tab as TabId) : "definition";
  const tabs = (Object.keys(tabTitles) as readonly TabId[]).map((id) => ({
    id,
    title: id === "changes" && row.changed > 0 ? `${tabTitles[id]} (${row.changed})` : tabTitles[id],
  }));
  return (
    <View
      title={name}
      heading={heading}
      status={hasCause(row) ? undefined : <ServerFacts row={row} />}
      tools={<ServerTools row={row} />}
    >
      {hasCause(row) && <ServerState row={row} />}
      <Tabs
        label="Parts of the server"
        tabs={tabs}
        current={current}
        onChange={(id) => router.go(toAddress(id === "definition" ? ["servers", name] : ["servers", name, id]))}
      >
        {current === "definition" && <Definition row={row} detail={detail} />}
        {current === "log" && <ServerLog name={name} />}
        {current === "policy" && <ServerPolicy name={name} detail={detail.value} />}
        {current === "changes" && <ServerChanges name={name} detail={detail} />}
        {current === "test" && <ServerTest name={name} />}
      </Tabs>
    </View>
  );
}

function ServerTools({ row }: { readonly row: ServerRow }): VNode {
  const { api } = useApp();
  const { name } = row;
  const group = groupOf(row);
  const isEnabled = row.status !== "disabled";
  const isRunning = group === "connected" || group === "connecting";
  // The step beside the cause says the same.
  const isOffered = isNotFine(row) && (row.next?.action === "start" || row.next?.action === "restart");
  const canStart = isEnabled && row.reason !== "awaiting_approval" && row.reason !== "untrusted_folder";
  const servers = [name];
  return (
    <>
      {canStart && (
        <>
          {!isOffered && (
            <Button
              icon={isRunning ? "again" : "play"}
              onPress={() => api.run(isRunning ? "servers/restart" : "servers/start", { servers })}
            >
              {isRunning ? "Restart" : "Start"}
            </Button>
          )}
          {(isRunning || group === "reconnecting") && (
            <Button icon="stop" onPress={() => api.run("servers/stop", { servers })}>
              Stop
            </Button>
          )}
          {isRunning && <Button onPress={() => api.run("servers/refresh", { server: name })}>Read lists again</Button>}
        </>
      )}
      <Button onPress={() => api.run("servers/enable", { server: name, isEnabled: !isEnabled })}>
        {isEnabled ? "Disable" : "Enable"}
      </Button>
      <CopyCommand command={serverCommand(name)} />
    </>
  );
}

function hasCause(row: ServerRow): boolean {
  return isNotFine(row) || row.cause !== undefined;
}

/** The state, since when, and the step that helps. */
function ServerFacts({ row }: { readonly row: ServerRow }): VNode {
  return (
    <div class="server-state">
      <ServerStatus row={row} />
      {row.since !== undefined && (
        <span class="muted">
          for <Age since={row.since} />
        </span>
      )}
      {row.nextTryAt !== undefined && (
        <span class="muted">
          next try in <Countdown until={row.nextTryAt} />
        </span>
      )}
      {row.next !== undefined && isStepHere(row) && <NextButton name={row.name} next={row.next} />}
    </div>
  );
}

/** A state with its cause and its evidence: first the fact, then the reason, then what to do. */
function ServerState({ row }: { readonly row: ServerRow }): VNode {
  const group = groupOf(row);
  return (
    <Notice kind={group === "failed" || group === "cannot start" ? "bad" : isNotFine(row) ? "warn" : "info"}>
      <div class="server-cause">
        <ServerFacts row={row} />
        {row.cause !== undefined && (
          <p>
            <Text of={row.cause} lines exact />
          </p>
        )}
        {row.evidence !== undefined && !saysAll(row.cause, row.evidence) && (
          <div class="server-evidence">
            <pre class="code-block" tabIndex={0} aria-label="Evidence">
              <Text of={row.evidence} lines exact />
            </pre>
            <CopyButton text={row.evidence} what="the evidence" />
          </div>
        )}
        {row.next !== undefined && (row.next.text ?? row.next.shell) !== undefined && (
          <NextLine next={row.next.text ?? row.next.shell ?? ""} command={row.next.shell} />
        )}
      </div>
    </Notice>
  );
}

/** Whether the cause has every line of the evidence already, as it has the last line of stderr. */
function saysAll(cause = "", evidence: string): boolean {
  return evidence.split("\n").every((line) => cause.includes(line.trim()));
}

/** Whether the next step has its button beside the state. Other steps lead to this page, or have a button above. */
function isStepHere(row: ServerRow): boolean {
  switch (row.next?.action) {
    case "approve":
    case "compare":
    case "enable":
      return false;
    case "start":
    case "restart":
      return isNotFine(row);
    case "signIn":
    case undefined:
      return true;
  }
}

function Definition({ row, detail }: { readonly row: ServerRow; readonly detail: Loaded<Detail> }): VNode {
  const { value, error, reload } = detail;
  return (
    <div class="server-definition">
      {error !== undefined && <Failure error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Loading what="the definition" />}
      {value !== undefined && (
        <Section title="Definition">
          <Facts
            rows={[
              [
                "written in",
                <span key="at" class="fact-copy">
                  <Text of={value.definedAt} exact class="mono" />
                  <CopyButton text={value.definedAt} what="the place of the definition" />
                </span>,
              ],
              ["scope", row.scope],
              ["transport", row.transport],
              ...value.fields
                .filter(({ label }) => !shownAbove.has(label))
                .map(({ label, values }) => [label, <Lines key={label} label={label} values={values} />] as const),
            ]}
          />
          {value.notes.map((note) => (
            <Notice key={note} kind="info">
              <Text of={note} lines exact />
            </Notice>
          ))}
          {row.reason === "awaiting_approval" && <Approval name={row.name} detail={value} />}
        </Section>
      )}
      {value?.sandbox !== undefined && <ServerSandbox name={row.name} detail={value} reload={reload} />}
      <Section title="Catalog">
        <Facts
          rows={[
            ["lists", <Lists key="lists" row={row} />],
            row.tokens === undefined
              ? undefined
              : [
                  "tokens",
                  <span key="tokens">
                    {shortNumber(row.tokens)}{" "}
                    <span class="muted">(estimated, of the tools that a model is offered)</span>
                  </span>,
                ],
            row.protocolVersion === undefined ? undefined : ["protocol", row.protocolVersion],
            ["calls", `${counted(row.calls, "call")} in 24 hours`],
            row.lastError === undefined ? undefined : ["last failure", <Text key="error" of={row.lastError} lines />],
          ]}
        />
        {value?.instructions !== undefined && (
          <>
            <h3 class="server-subhead">Instructions of the server</h3>
            <pre class="code-block" tabIndex={0} aria-label="Instructions">
              <Text of={value.instructions} lines exact most={4000} />
            </pre>
          </>
        )}
        {value !== undefined && value.prompts.length > 0 && (
          <>
            <h3 class="server-subhead">Prompts</h3>
            <Facts
              rows={value.prompts.map(({ name, description }) => [
                name,
                description === undefined ? "no description" : <Text key={name} of={description} most={300} />,
              ])}
            />
          </>
        )}
      </Section>
    </div>
  );
}

/** What the server lists, with the ways there. */
function Lists({ row }: { readonly row: ServerRow }): VNode {
  if (row.counts === undefined) return <span class="unknown">not read yet</span>;
  const { tools, prompts, resources, resourceTemplates } = row.counts;
  const lists = [
    { view: "tools", text: counted(tools, "tool"), count: tools },
    {
      view: "resources",
      text: counted(resources + resourceTemplates, "resource"),
      count: resources + resourceTemplates,
    },
    { view: "prompts", text: counted(prompts, "prompt"), count: prompts },
  ].filter(({ count }) => count > 0);
  return (
    <span class="server-lists">
      {lists.length === 0 && "empty"}
      {lists.map(({ view, text }) => (
        <Link key={view} to={toAddress([view, row.name])}>
          {text}
        </Link>
      ))}
      {row.isCached && <span class="muted">(cached)</span>}
    </span>
  );
}

/** Facts of every definition, which stand above the others. */
const shownAbove: ReadonlySet<string> = new Set(["written in", "transport"]);
/** Facts in sentences. The others are values as they are written in the settings. */
const inSentences: ReadonlySet<string> = new Set(["timeout", "roots", "note", "trust", "trust: true", "description"]);

function Lines({ label, values }: { readonly label: string; readonly values: readonly string[] }): ComponentChildren {
  return values.map((value, at) => (
    // The values never change their order.
    <div key={at}>
      {label === "fingerprint" ? (
        <span class="fact-copy">
          <span class="cut mono" title={value}>
            {value}
          </span>
          <CopyButton text={value} what="the fingerprint" />
        </span>
      ) : (
        <Text of={value} exact class={inSentences.has(label) ? "" : "mono"} />
      )}
    </div>
  ));
}

/** Approving lets the server's program start: the person sees above the button exactly what would run. */
function Approval({ name, detail }: { readonly name: string; readonly detail: Detail }): VNode {
  const { api, announcer } = useApp();
  return (
    <div class="server-approval">
      <p>
        <strong>Approve this server?</strong> The workspace has defined it as shown above. After your approval, Fairlead
        starts it when it is used, until its definition changes.
      </p>
      <Decision subject={JSON.stringify(detail)} label="Approve the server">
        <AllowButton
          onPress={async () => {
            await api.run("servers/approve", { server: name, fingerprint: detail.fingerprint ?? "" });
            announcer.done(`${name} is approved`);
          }}
        >
          Approve this definition
        </AllowButton>
      </Decision>
    </div>
  );
}
