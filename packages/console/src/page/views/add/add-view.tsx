/** Finds servers in MCP registries. A server that was found has an address of its own, where it is added. */

import { toShellWord } from "@fairlead/core/text/shell-word";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { PublishedRow } from "../../../protocol/adding.ts";
import type { Result } from "../../../protocol/commands.ts";
import { useApp, useCommand, useRoute } from "../../app.ts";
import { Age } from "../../components/age.tsx";
import { Button } from "../../components/button.tsx";
import { CopyCommand } from "../../components/copy.tsx";
import { SearchInput } from "../../components/field.tsx";
import { Link } from "../../components/link.tsx";
import { Empty, Failure, Loading } from "../../components/notice.tsx";
import { View } from "../../components/panel.tsx";
import { type Column, Row, Table } from "../../components/table.tsx";
import { Text } from "../../components/text.tsx";
import { counted } from "../../numbers.ts";
import { toAddress, type ViewAddress } from "../../router.ts";
import { PublishedServer } from "./published-server.tsx";
import { StatusMark, Unreached } from "./registry-words.tsx";

export function AddView({ path: [name] }: ViewAddress): VNode {
  return name === undefined ? <SearchRegistries /> : <PublishedServer key={name} name={name} />;
}

function SearchRegistries(): VNode {
  const { router } = useApp();
  const { query } = useRoute();
  const { search = "", cursor } = query;
  const [typed, setTyped] = useState(search);
  useEffect(() => setTyped(search), [search]);
  const found = useCommand("add/search", search.trim() === "" ? undefined : { words: search, cursor });
  const { value, error } = found;
  const words = search.trim().split(/\s+/).map(toShellWord).join(" ");
  return (
    <View title="Add" tools={<CopyCommand command={`fairlead mcp search ${words || "WORDS"}`} />}>
      <form
        role="search"
        class="add-search"
        onSubmit={(event) => {
          event.preventDefault();
          router.go(toAddress(["add"], { search: typed.trim() }));
        }}
      >
        <SearchInput label="Words of the server's name, title or description" value={typed} onChange={setTyped} />
        <Button type="submit" kind="primary" onPress={() => undefined}>
          Search
        </Button>
      </form>
      {search === "" && (
        <Empty title="Search the MCP registries of your settings">
          <p>
            You see exactly what would run before anything is added. A name proves who has published a server, not that
            the server is safe.
          </p>
        </Empty>
      )}
      {error !== undefined && <Failure error={error} onRetry={found.reload} />}
      {search !== "" && value === undefined && error === undefined && <Loading what="the registries" />}
      {value !== undefined && <Found found={value} search={search} />}
    </View>
  );
}

const columns: readonly Column[] = [
  { id: "name", title: "Server", width: "30%", card: "head" },
  { id: "version", title: "Version", width: "150px" },
  { id: "kinds", title: "Kinds", width: "110px" },
  { id: "status", title: "Status", width: "110px" },
  { id: "description", title: "Description", card: "wide" },
  { id: "registry", title: "Registry", width: "17%", card: "wide" },
];

function Found({ found, search }: { readonly found: Result<"add/search">; readonly search: string }): VNode {
  const { servers, registries, unreached, refused, nextCursor } = found;
  return (
    <>
      {unreached.map((one) => (
        <Unreached key={one.registry} unreached={one} />
      ))}
      {servers.length === 0 ? (
        <Empty title="No server found" />
      ) : (
        <Table label="Servers that were found" columns={columns} class="add-table">
          {servers.map((server) => (
            <FoundLine
              key={`${server.registry} ${server.name}`}
              server={server}
              isFirst={server.registry === registries[0]}
            />
          ))}
        </Table>
      )}
      {refused > 0 && <p class="muted">Left out: {counted(refused, "server")} with a description that is not valid.</p>}
      {nextCursor !== undefined && (
        <p>
          <Link to={toAddress(["add"], { search, cursor: nextCursor })}>Next page</Link>
        </p>
      )}
    </>
  );
}

function FoundLine({ server, isFirst }: { readonly server: PublishedRow; readonly isFirst: boolean }): VNode {
  const { router } = useApp();
  const { name, title, description, version, publishedAt, kinds, status, statusMessage, registry } = server;
  const to = toAddress(["add", name], { registry: isFirst ? undefined : registry });
  const isDeleted = status === "deleted";
  return (
    <Row
      rowKey={`${registry} ${name}`}
      onOpen={isDeleted ? undefined : () => router.go(to)}
      cells={[
        isDeleted ? (
          <span key="name" class="cut">
            <Text of={name} exact />
          </span>
        ) : (
          <Link key="name" to={to} class="row-link cut" focusKey={`${registry} ${name}`}>
            <Text of={name} exact />
          </Link>
        ),
        <span key="version" class="cut">
          <Text of={version} exact />
          {publishedAt !== undefined && (
            <span class="muted">
              {" "}
              <Age since={publishedAt} suffix=" old" />
            </span>
          )}
        </span>,
        <span key="kinds" class="cut">
          <Text of={kinds.join(", ")} exact />
        </span>,
        <StatusMark key="status" status={status} />,
        <span key="description" class="cut muted">
          {statusMessage !== undefined && (
            <strong>
              <Text of={statusMessage.slice(0, 300)} />{" "}
            </strong>
          )}
          <Text of={[title, description].filter(Boolean).join(": ").slice(0, 300)} />
        </span>,
        <span key="registry" class="cut muted mono">
          <Text of={registry} exact />
        </span>,
      ]}
    />
  );
}
