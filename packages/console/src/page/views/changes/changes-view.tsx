/** Definitions that differ from the accepted ones, on all servers, and the servers beside the workspace's lock file. */

import type { VNode } from "preact";
import type { ListChanges, LockRow } from "../../../protocol/changes.ts";
import { useCommand } from "../../app.ts";
import { CopyCommand } from "../../components/copy.tsx";
import { Differences } from "../../components/differences.tsx";
import { Link } from "../../components/link.tsx";
import { Empty, Failure, Loading, Notice } from "../../components/notice.tsx";
import { Section, View } from "../../components/panel.tsx";
import { type State, StateMark } from "../../components/state-mark.tsx";
import { Text, visibleText } from "../../components/text.tsx";
import { counted } from "../../numbers.ts";
import { toAddress } from "../../router.ts";
import { useOutdated } from "../servers/use-outdated.ts";

export function ChangesView(): VNode {
  const list = useCommand("changes/list", {});
  useOutdated(undefined, list.reload);
  const servers = (list.value?.servers ?? []).filter(({ changes }) => changes.length > 0);
  return (
    <View title="Changes" tools={<CopyCommand command="fairlead lock verify" />}>
      <Section title="Changed definitions">
        {list.error !== undefined && <Failure error={list.error} onRetry={list.reload} />}
        {list.value === undefined && list.error === undefined && <Loading what="the changes" />}
        {list.value !== undefined && servers.length === 0 && (
          <Empty title="No definition has changed">
            <p>All definitions are as you accepted them.</p>
          </Empty>
        )}
        {servers.map(({ server, changes }) => (
          <section key={server} class="change-group" aria-label={`Changes of ${visibleText(server)}`}>
            <div class="section-head change-head">
              <h3>
                <Text of={server} exact /> <span class="count">{changes.length}</span>
              </h3>
              <Link to={toAddress(["servers", server, "changes"])} class="button button-row">
                Compare and accept
              </Link>
            </div>
            {changes.map(({ kind, name, differences }) => (
              <div key={`${kind} ${name}`} class="change-item">
                <p>
                  <span class="muted">{kind} </span>
                  <Text of={name} exact class="mono" />
                </p>
                <Differences list={differences} />
              </div>
            ))}
          </section>
        ))}
      </Section>
      <LockSection />
    </View>
  );
}

const lockStates: Readonly<Record<LockRow["state"], State>> = {
  same: { word: "as locked", shape: "check", tone: "ok" },
  changed: { word: "differs", shape: "question", tone: "change" },
  added: { word: "not locked", shape: "question", tone: "warn" },
  removed: { word: "only in the lock file", shape: "dash", tone: "idle" },
  unknown: { word: "never read", shape: "ring", tone: "idle" },
};

function LockSection(): VNode {
  const lock = useCommand("changes/lock", {});
  useOutdated(undefined, lock.reload);
  const { value, error } = lock;
  return (
    <Section title="Lock file" tools={<CopyCommand command="fairlead lock update" />}>
      {error !== undefined && <Failure error={error} onRetry={lock.reload} />}
      {value === undefined && error === undefined && <Loading what="the lock file" />}
      {value?.file !== undefined && (
        <p class="mono">
          <Text of={value.file} exact />
        </p>
      )}
      {value?.state === "none" && (
        <p class="muted">
          The workspace has no lock file. A lock file keeps the accepted definitions of its servers for everyone who
          uses this folder.
        </p>
      )}
      {value?.state === "ignored" && <p class="muted">The folder is not trusted, so its lock file has no effect.</p>}
      {value?.problem !== undefined && (
        <Notice kind="bad">
          <Text of={value.problem} lines />
        </Notice>
      )}
      {value?.servers.map((row) => (
        <div key={row.server} class="change-item">
          <p class="block-line">
            <StateMark {...lockStates[row.state]} />
            <strong>
              <Text of={row.server} exact />
            </strong>
            <span class="muted">
              {[countText("tool", row.tools), countText("prompt", row.prompts)].filter(Boolean).join("; ")}
            </span>
          </p>
          {row.differences.length > 0 && <Differences list={row.differences} />}
        </div>
      ))}
    </Section>
  );
}

function countText(noun: string, { added, removed, changed }: ListChanges): string {
  const parts = [
    added.length === 0 ? [] : `${counted(added.length, noun)} added`,
    removed.length === 0 ? [] : `${counted(removed.length, noun)} removed`,
    changed.length === 0 ? [] : `${counted(changed.length, noun)} changed`,
  ].flat();
  return parts.join(", ");
}
