/** The resources and resource templates of all servers, and the content of the one that the person reads. */

import { expandTemplate, parseTemplate } from "@fairlead/core/plain-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Result } from "../../../protocol/commands.ts";
import { useApp, useCommand, useRoute } from "../../app.ts";
import { Button } from "../../components/button.tsx";
import { CopyCommand } from "../../components/copy.tsx";
import { SearchInput } from "../../components/field.tsx";
import { Link } from "../../components/link.tsx";
import { Empty, Failure, Loading } from "../../components/notice.tsx";
import { DetailPanel, SplitView, View } from "../../components/panel.tsx";
import { type Column, GroupRow, Row, Table } from "../../components/table.tsx";
import { Text } from "../../components/text.tsx";
import { toAddress, type ViewAddress } from "../../router.ts";
import { CallPanel } from "../calls/call-panel.tsx";
import { SuggestedInput } from "../calls/suggested-input.tsx";
import { useCall } from "../calls/use-call.ts";
import { useOutdated } from "../servers/use-outdated.ts";

type Resource = Result<"resources/list">["resources"][number];

const columns: readonly Column[] = [
  { id: "name", title: "Name", width: "24%", card: "head" },
  { id: "uri", title: "Address", card: "wide" },
  { id: "type", title: "Type", width: "140px" },
  { id: "size", title: "Size", width: "80px", align: "end" },
];

export function ResourcesView({ path: [server] }: ViewAddress): VNode {
  const { router } = useApp();
  const { query } = useRoute();
  const list = useCommand("resources/list", {});
  useOutdated(undefined, list.reload);
  const words = (query["search"] ?? "").toLowerCase();
  const uri = query["uri"];
  const shown = (list.value?.resources ?? []).filter(
    (each) =>
      (server === undefined || each.server === server) &&
      `${each.server} ${each.name} ${each.uri} ${each.description ?? ""}`.toLowerCase().includes(words),
  );
  const chosen = list.value?.resources.find((each) => each.server === server && each.uri === uri);
  // A link of a result may lead to a resource that its server does not list.
  const linked =
    uri !== undefined && server !== undefined ? { server, uri, kind: "resource" as const, name: uri } : undefined;
  const opened = chosen ?? linked;
  const command =
    opened === undefined
      ? "fairlead resources"
      : `fairlead read ${toShellWord(opened.server)} ${toShellWord(opened.uri)}`;
  return (
    <View title="Resources" tools={<CopyCommand command={command} />}>
      <div class="tools">
        <SearchInput
          label="Search the resources"
          value={query["search"] ?? ""}
          onChange={(value) => router.setQuery({ search: value || undefined })}
        />
        {server !== undefined && (
          <Link to={toAddress(["resources"])} class="button button-quiet">
            All servers
          </Link>
        )}
      </div>
      {list.error !== undefined && <Failure error={list.error} onRetry={list.reload} />}
      {list.value === undefined && list.error === undefined && <Loading what="the resources" />}
      <SplitView
        panel={
          opened && (
            <ResourcePanel
              key={`${opened.server} ${opened.uri}`}
              resource={opened}
              onClose={() => router.go(toAddress(["resources"], { search: query["search"] }))}
            />
          )
        }
      >
        {list.value !== undefined && shown.length === 0 && (
          <Empty title={words === "" ? "No server lists a resource" : "No resource fits the words"} />
        )}
        {shown.length > 0 && (
          <Table label="Resources by server" columns={columns} class="resource-table">
            {[...new Set(shown.map((each) => each.server))].map((name) => [
              <GroupRow key={name}>
                <Link to={toAddress(["servers", name])}>
                  <Text of={name} exact />
                </Link>
              </GroupRow>,
              ...shown
                .filter((each) => each.server === name)
                .map((each) => <ResourceLine key={each.uri} resource={each} isChosen={each === chosen} />),
            ])}
          </Table>
        )}
      </SplitView>
    </View>
  );
}

function ResourceLine({ resource, isChosen }: { readonly resource: Resource; readonly isChosen: boolean }): VNode {
  const { router } = useApp();
  const { server, uri, name, kind, mimeType, size } = resource;
  const address = toAddress(["resources", server], { uri });
  return (
    <Row
      rowKey={`resource ${server} ${uri}`}
      isSelected={isChosen || undefined}
      onOpen={() => router.go(address)}
      cells={[
        <Link key="name" to={address} class="row-link cut" focusKey={`resource ${server} ${uri}`}>
          <Text of={name} exact />
        </Link>,
        <span key="uri" class="cut mono muted">
          <Text of={uri} exact />
        </span>,
        <span key="type" class="cut muted">
          {kind === "template" ? "template" : <Text of={mimeType ?? "–"} exact />}
        </span>,
        size === undefined ? (
          <span key="size" class="unknown">
            –
          </span>
        ) : (
          size.toLocaleString("en")
        ),
      ]}
    />
  );
}

interface ResourcePanelProps {
  readonly resource: Pick<Resource, "server" | "uri" | "kind" | "name" | "description">;
  readonly onClose: () => void;
}

function ResourcePanel({ resource, onClose }: ResourcePanelProps): VNode {
  const { api } = useApp();
  const { server, uri, kind, name, description } = resource;
  const call = useCall();
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const template = kind === "template" ? parseTemplate(uri) : undefined;
  const variables = template?.kind === "template" ? variablesOf(template.pieces) : [];
  const read = (): Promise<void> =>
    call.begin((id) =>
      api.run("calls/resource", { call: id, server, uri: kind === "template" ? expandTemplate(uri, values) : uri }),
    );
  return (
    <DetailPanel label="Resource" title={<Text of={name} exact />} onClose={onClose}>
      <p class="mono">
        <Text of={uri} exact />
      </p>
      {description !== undefined && (
        <p class="muted">
          <Text of={description} lines most={800} />
        </p>
      )}
      <form onSubmit={(event) => event.preventDefault()}>
        {variables.map((variable) => (
          <SuggestedInput
            key={variable}
            label={variable}
            value={values[variable] ?? ""}
            onChange={(value) => setValues({ ...values, [variable]: value })}
            suggest={{ server, uriTemplate: uri, argument: variable, others: values }}
          />
        ))}
        <div class="tools">
          <Button kind="primary" type="submit" onPress={read}>
            Read
          </Button>
        </div>
      </form>
      <CallPanel call={call} />
    </DetailPanel>
  );
}

function variablesOf(
  pieces: Extract<ReturnType<typeof parseTemplate>, { readonly kind: "template" }>["pieces"],
): readonly string[] {
  return [
    ...new Set(pieces.flatMap((piece) => (piece.kind === "literal" ? [] : piece.variables.map(({ name }) => name)))),
  ];
}
