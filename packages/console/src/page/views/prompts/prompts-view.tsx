/** The prompts of all servers, and the messages of the one that the person gets. */

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

type Prompt = Result<"prompts/list">["prompts"][number];

const columns: readonly Column[] = [
  { id: "name", title: "Prompt", width: "28%", card: "head" },
  { id: "arguments", title: "Arguments", width: "28%" },
  { id: "description", title: "Description", card: "wide" },
];

export function PromptsView({ path: [server, name] }: ViewAddress): VNode {
  const { router } = useApp();
  const { query } = useRoute();
  const list = useCommand("prompts/list", {});
  useOutdated(undefined, list.reload);
  const words = (query["search"] ?? "").toLowerCase();
  const all = list.value?.prompts ?? [];
  const shown = all.filter(
    (each) =>
      (server === undefined || name !== undefined || each.server === server) &&
      `${each.server} ${each.prompt} ${each.description ?? ""}`.toLowerCase().includes(words),
  );
  const chosen = all.find((each) => each.server === server && each.prompt === name);
  return (
    <View title="Prompts" tools={<CopyCommand command="fairlead prompts" />}>
      <div class="tools">
        <SearchInput
          label="Search the prompts"
          value={query["search"] ?? ""}
          onChange={(value) => router.setQuery({ search: value || undefined })}
        />
      </div>
      {list.error !== undefined && <Failure error={list.error} onRetry={list.reload} />}
      {list.value === undefined && list.error === undefined && <Loading what="the prompts" />}
      <SplitView
        panel={
          chosen && (
            <PromptPanel
              key={`${chosen.server} ${chosen.prompt}`}
              prompt={chosen}
              onClose={() => router.go(toAddress(["prompts"], { search: query["search"] }))}
            />
          )
        }
      >
        {list.value !== undefined && shown.length === 0 && (
          <Empty title={words === "" ? "No server lists a prompt" : "No prompt fits the words"} />
        )}
        {shown.length > 0 && (
          <Table label="Prompts by server" columns={columns} class="prompt-table">
            {[...new Set(shown.map((each) => each.server))].map((of) => [
              <GroupRow key={of}>
                <Link to={toAddress(["servers", of])}>
                  <Text of={of} exact />
                </Link>
              </GroupRow>,
              ...shown
                .filter((each) => each.server === of)
                .map((each) => <PromptLine key={each.prompt} prompt={each} isChosen={each === chosen} />),
            ])}
          </Table>
        )}
      </SplitView>
    </View>
  );
}

function PromptLine({ prompt, isChosen }: { readonly prompt: Prompt; readonly isChosen: boolean }): VNode {
  const { router } = useApp();
  const address = toAddress(["prompts", prompt.server, prompt.prompt]);
  return (
    <Row
      rowKey={`prompt ${prompt.server} ${prompt.prompt}`}
      isSelected={isChosen || undefined}
      onOpen={() => router.go(address)}
      cells={[
        <Link key="name" to={address} class="row-link cut" focusKey={`prompt ${prompt.server} ${prompt.prompt}`}>
          <Text of={prompt.prompt} exact />
        </Link>,
        prompt.arguments.length === 0 ? (
          <span key="arguments" class="unknown">
            none
          </span>
        ) : (
          <span key="arguments" class="cut mono">
            <Text
              of={prompt.arguments.map(({ name, isRequired }) => (isRequired ? name : `[${name}]`)).join(" ")}
              exact
            />
          </span>
        ),
        <span key="description" class="cut muted">
          <Text of={(prompt.description ?? "").slice(0, 300)} />
        </span>,
      ]}
    />
  );
}

function PromptPanel({ prompt, onClose }: { readonly prompt: Prompt; readonly onClose: () => void }): VNode {
  const { api } = useApp();
  const { server, prompt: name, description, arguments: parameters } = prompt;
  const call = useCall();
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [isChecked, setChecked] = useState(false);
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
  const missing = parameters.filter((each) => each.isRequired && given[each.name] === undefined);
  const get = async (): Promise<void> => {
    setChecked(true);
    if (missing.length === 0)
      await call.begin((id) => api.run("calls/prompt", { call: id, server, prompt: name, args: given }));
  };
  const words = Object.entries(given).map(([key, value]) => toShellWord(`${key}=${value}`));
  return (
    <DetailPanel
      label="Prompt"
      title={<Text of={name} exact />}
      onClose={onClose}
      tools={<CopyCommand command={["fairlead prompt", toShellWord(`${server}.${name}`), ...words].join(" ")} />}
    >
      {description !== undefined && (
        <p class="muted">
          <Text of={description} lines most={800} />
        </p>
      )}
      <form onSubmit={(event) => event.preventDefault()}>
        {parameters.map((each) => (
          <SuggestedInput
            key={each.name}
            label={each.name}
            hint={each.description}
            isRequired={each.isRequired}
            error={isChecked && missing.includes(each) ? "is required" : undefined}
            value={values[each.name] ?? ""}
            onChange={(value) => setValues({ ...values, [each.name]: value })}
            suggest={{ server, prompt: name, argument: each.name, others: given }}
          />
        ))}
        <div class="tools">
          <Button kind="primary" type="submit" onPress={get}>
            Get
          </Button>
        </div>
      </form>
      <CallPanel call={call} />
    </DetailPanel>
  );
}
