/** The skills of all servers: their files with digests, how they differ from the accepted ones, and the yes to them. */

import { toShellWord } from "@fairlead/core/text/shell-word";
import type { VNode } from "preact";
import type { SkillRow } from "../../../protocol/skills.ts";
import { useApp, useCommand, useRoute } from "../../app.ts";
import { Button } from "../../components/button.tsx";
import { CopyCommand } from "../../components/copy.tsx";
import { AllowButton, Decision } from "../../components/decision.tsx";
import { Differences } from "../../components/differences.tsx";
import { Link } from "../../components/link.tsx";
import { Empty, Failure, Loading, Notice } from "../../components/notice.tsx";
import { DetailPanel, Facts, SplitView, View } from "../../components/panel.tsx";
import { StateMark } from "../../components/state-mark.tsx";
import { type Column, Row, Table } from "../../components/table.tsx";
import { Text } from "../../components/text.tsx";
import { counted } from "../../numbers.ts";
import { toAddress } from "../../router.ts";
import { CallPanel } from "../calls/call-panel.tsx";
import { useCall } from "../calls/use-call.ts";
import { useOutdated } from "../servers/use-outdated.ts";
import { DecisionMark } from "../tools/decision-mark.tsx";

const columns: readonly Column[] = [
  { id: "skill", title: "Skill", width: "28%", card: "head" },
  { id: "state", title: "Files", width: "130px", card: "head" },
  { id: "decision", title: "A model's load", width: "120px" },
  { id: "description", title: "Description", card: "wide" },
];

export function SkillsView(): VNode {
  const { router } = useApp();
  const { query } = useRoute();
  const list = useCommand("skills/list", {});
  useOutdated(undefined, list.reload);
  const skills = list.value?.skills ?? [];
  const chosen = skills.find(({ server, uri }) => server === query["server"] && uri === query["uri"]);
  return (
    <View title="Skills" tools={<CopyCommand command="fairlead skills" />}>
      {list.error !== undefined && <Failure error={list.error} onRetry={list.reload} />}
      {list.value === undefined && list.error === undefined && <Loading what="the skills" />}
      {list.value !== undefined && skills.length === 0 && (
        <Empty title="No server has listed a skill">
          <p>A skill is a folder of instructions and files that a server offers to models.</p>
        </Empty>
      )}
      {skills.length > 0 && (
        <SplitView
          panel={
            chosen && (
              <SkillPanel
                key={`${chosen.server} ${chosen.uri}`}
                skill={chosen}
                onClose={() => router.setQuery({ server: undefined, uri: undefined, call: undefined })}
              />
            )
          }
        >
          <Table label="Skills" columns={columns} class="skill-table">
            {skills.map((skill) => (
              <SkillLine key={`${skill.server} ${skill.uri}`} skill={skill} isChosen={skill === chosen} />
            ))}
          </Table>
        </SplitView>
      )}
    </View>
  );
}

function SkillState({ isAccepted, isChanged }: Pick<SkillRow, "isAccepted" | "isChanged">): VNode {
  if (isChanged) return <StateMark word="changed" shape="question" tone="change" />;
  return isAccepted ? (
    <StateMark word="accepted" shape="check" tone="ok" />
  ) : (
    <StateMark word="new" shape="ring" tone="idle" />
  );
}

function SkillLine({ skill, isChosen }: { readonly skill: SkillRow; readonly isChosen: boolean }): VNode {
  const { router } = useApp();
  const { server, uri, label, description, decision } = skill;
  return (
    <Row
      rowKey={`skill ${server} ${uri}`}
      isSelected={isChosen || undefined}
      onOpen={() => router.setQuery({ server, uri, call: undefined })}
      cells={[
        <Link
          key="skill"
          to={toAddress(["skills"], { server, uri })}
          class="row-link cut"
          focusKey={`skill ${server} ${uri}`}
        >
          <span class="muted">
            <Text of={server} exact />/
          </span>
          <Text of={label} exact />
        </Link>,
        <SkillState key="state" {...skill} />,
        <DecisionMark key="decision" decision={decision} />,
        <span key="description" class="cut muted">
          <Text of={description.slice(0, 300)} />
        </span>,
      ]}
    />
  );
}

function SkillPanel({ skill, onClose }: { readonly skill: SkillRow; readonly onClose: () => void }): VNode {
  const { api, announcer } = useApp();
  const { server, uri, label, description } = skill;
  const call = useCall();
  const shown = useCommand("skills/show", { server, uri });
  useOutdated(server, shown.reload);
  const { value, error } = shown;
  return (
    <DetailPanel
      label="Skill"
      title={<Text of={label} exact />}
      onClose={onClose}
      tools={<CopyCommand command={`fairlead skills show ${toShellWord(`${server}/${label}`)}`} />}
    >
      <p>
        <Text of={description} lines most={1000} />
      </p>
      <Facts
        rows={[
          ["server", <Text key="server" of={server} exact />],
          ["address", <Text key="uri" of={uri} exact class="mono" />],
          ["state", <SkillState key="state" {...skill} />],
        ]}
      />
      {error !== undefined && <Failure error={error} onRetry={shown.reload} />}
      {value === undefined && error === undefined && <Loading what="the files" />}
      {value?.change !== undefined && value.change.length > 0 && (
        <Notice kind="warn">
          <div>
            <p>
              <strong>The skill has changed</strong> since you accepted it.
            </p>
            <Differences list={value.change} />
          </div>
        </Notice>
      )}
      {value !== undefined && (
        <>
          <h3>{counted(value.files.length, "file")}</h3>
          <ul class="plain-list">
            {value.files.map(({ path, size, digest }) => (
              <li key={path}>
                <Text of={path} exact class="mono" /> <span class="muted">{size.toLocaleString("en")} bytes</span>{" "}
                <Button
                  kind="quiet"
                  class="button-row"
                  label={`Read ${path}`}
                  onPress={() => call.begin((id) => api.run("calls/skill", { call: id, server, uri, file: path }))}
                >
                  Read
                </Button>
                <br />
                <span class="muted mono">
                  <Text of={digest} exact />
                </span>
              </li>
            ))}
          </ul>
          {(call.isRunning || call.row !== undefined) && <CallPanel call={call} />}
          {value.digest === undefined && (
            <p class="muted">The server makes the files for each request, so they cannot be accepted in advance.</p>
          )}
          {value.digest !== undefined && (skill.isChanged || !skill.isAccepted) && (
            <Decision subject={value.digest} label="Accept the skill">
              <AllowButton
                onPress={async () => {
                  await api.run("skills/accept", { server, uri, digest: value.digest ?? "" });
                  announcer.done(`Accepted the files of ${label}`);
                  shown.reload();
                }}
              >
                Accept exactly these files
              </AllowButton>
            </Decision>
          )}
        </>
      )}
    </DetailPanel>
  );
}
